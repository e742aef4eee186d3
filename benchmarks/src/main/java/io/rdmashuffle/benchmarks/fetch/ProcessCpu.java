package io.rdmashuffle.benchmarks.fetch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * CPU time of a process from outside: the sum over its threads of the first number in {@code
 * /proc/PID/task/TID/schedstat} (proc_pid_schedstat(5)), nanoseconds. JIT compiler threads are left
 * out: what they do depends on how long the process has run, not on the transport.
 */
final class ProcessCpu {
  private ProcessCpu() {}

  static long nanos(long pid) throws IOException {
    long sum = 0;
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", String.valueOf(pid), "task"))) {
      for (Path thread : threads) {
        sum += nanos(thread);
      }
    }
    return sum;
  }

  private static long nanos(Path thread) throws IOException {
    try {
      if (Files.readString(thread.resolve("comm")).contains("CompilerThre")) {
        return 0;
      }
      return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
    } catch (NoSuchFileException e) {
      return 0; // the thread ended between listing and reading
    }
  }
}
