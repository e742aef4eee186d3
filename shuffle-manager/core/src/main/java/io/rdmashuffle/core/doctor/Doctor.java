package io.rdmashuffle.core.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts {@link DoctorProgram}. The plugin's jar leaves SLF4J to the engine, and {@code java -jar}
 * has no engine: then a copy that travels inside the jar is put on the program's class path, with a
 * binding that says nothing. Uses nothing but the JDK itself.
 */
public final class Doctor {
  private static final List<String> BUNDLED = List.of("slf4j-api.jar", "slf4j-nop.jar");

  private Doctor() {}

  public static void main(String[] arguments) throws Exception {
    System.exit(isEnginePresent() ? DoctorProgram.run(arguments) : runWithBundled(arguments));
  }

  private static boolean isEnginePresent() {
    try {
      Class.forName("org.slf4j.LoggerFactory");
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static int runWithBundled(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("rdma-shuffle-doctor");
    folder.toFile().deleteOnExit(); // for Ctrl-C; the files in it, registered later, go first
    List<URL> classPath = new ArrayList<>(ownClassPath());
    try {
      for (String name : BUNDLED) {
        classPath.add(copy(name, folder).toUri().toURL());
      }
      try (URLClassLoader loader =
          new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
        Class<?> program = loader.loadClass("io.rdmashuffle.core.doctor.DoctorProgram");
        return (int) program.getMethod("run", String[].class).invoke(null, (Object) arguments);
      }
    } finally {
      for (String name : BUNDLED) {
        Files.deleteIfExists(folder.resolve(name));
      }
      Files.delete(folder);
    }
  }

  private static List<URL> ownClassPath() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":")) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls;
  }

  private static Path copy(String name, Path folder) throws IOException {
    Path file = folder.resolve(name);
    file.toFile().deleteOnExit();
    try (InputStream in = Doctor.class.getResourceAsStream("lib/" + name)) {
      if (in == null) {
        throw new IOException(name + " is missing in this jar, which was not built as usual");
      }
      Files.copy(in, file);
    }
    return file;
  }
}
