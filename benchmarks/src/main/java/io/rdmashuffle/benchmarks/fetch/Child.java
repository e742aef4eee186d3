package io.rdmashuffle.benchmarks.fetch;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM that speaks lines. One thread at a time, but {@link #cpuNs} any. */
final class Child implements AutoCloseable {
  private final List<String> command = new ArrayList<>();
  private final Path log;
  private Process process;
  private BufferedReader output;
  private BufferedWriter input;

  private Child(Path log) {
    this.log = log;
  }

  static Child start(List<String> command, Path log) {
    Child child = new Child(log);
    child.command.addAll(command);
    return child;
  }

  Child with(String... arguments) {
    command.addAll(Arrays.asList(arguments));
    return this;
  }

  Child run() throws IOException {
    process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    input =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    return this;
  }

  String ask(String line, String word) throws IOException {
    input.write(line + "\n");
    input.flush();
    return answer(word);
  }

  /** What follows {@code word} in the first line that starts with it. */
  String answer(String word) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(word)) {
        return line.substring(word.length()).trim();
      }
    }
    throw new IOException("the process ended; its log is " + log);
  }

  long cpuNs() throws IOException {
    return ProcessCpu.nanos(process.pid());
  }

  /** Ends it by closing its input, by force if that does not do. */
  @Override
  public void close() {
    try {
      input.close();
      if (process.waitFor(10, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException e) {
      process.destroy();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
