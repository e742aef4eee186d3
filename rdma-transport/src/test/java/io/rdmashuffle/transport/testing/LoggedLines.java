package io.rdmashuffle.transport.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while it is open: the tests' logger writes to the process's standard error. */
public final class LoggedLines implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public LoggedLines() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  /** The lines so far that contain the text, stack traces' lines included. */
  public List<String> with(String text) {
    return bytes.toString(StandardCharsets.UTF_8).lines().filter(l -> l.contains(text)).toList();
  }

  @Override
  public void close() {
    System.setErr(before);
    before.print(bytes.toString(StandardCharsets.UTF_8));
  }
}
