package io.rdmashuffle.transport;

import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How tests start a small JVM with their own class path and device. */
public final class ChildJvm {
  private static final String PATIENCE = "rdmashuffle.test.patience";

  private ChildJvm() {}

  /** The command up to the class; arguments go behind. */
  public static List<String> command(Class<?> main) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
    command.add("-D" + TestDevice.PROPERTY + "=" + System.getProperty(TestDevice.PROPERTY, "soft"));
    command.add("-D" + PATIENCE + "=" + System.getProperty(PATIENCE, "1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    return command;
  }
}
