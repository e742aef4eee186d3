package io.rdmashuffle.benchmarks.fetch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * CPU time of a process from outside: user and system time in {@code /proc/PID/stat}
 * (proc_pid_stat(5)), which keeps the time of threads that ended and counts in steps of 10 ms. What
 * JIT compiler threads took is left out: it depends on how long the process has run, not on the
 * transport. Their number has to be fixed ({@link #JVM_OPTION}), or they end as well.
 */
final class ProcessCpu {
  static final String JVM_OPTION = "-XX:-UseDynamicNumberOfCompilerThreads";

  /** USER_HZ, the same on every Linux that has a JVM. */
  private static final long NS_PER_TICK = 10_000_000;

  /** Position of utime among the fields behind the command's name; stime follows. */
  private static final int USER_TIME = 11;

  private ProcessCpu() {}

  static long nanos(long pid) throws IOException {
    Path process = Path.of("/proc", String.valueOf(pid));
    String stat = Files.readString(process.resolve("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    long ticks = Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
    return ticks * NS_PER_TICK - compilerNanos(process);
  }

  private static long compilerNanos(Path process) throws IOException {
    long sum = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
      for (Path thread : threads) {
        sum += compilerThreadNanos(thread);
      }
    }
    return sum;
  }

  private static long compilerThreadNanos(Path thread) throws IOException {
    try {
      return Files.readString(thread.resolve("comm")).contains("CompilerThre")
          ? Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0])
          : 0;
    } catch (NoSuchFileException e) {
      return 0; // another thread that ended between listing and reading
    }
  }
}
