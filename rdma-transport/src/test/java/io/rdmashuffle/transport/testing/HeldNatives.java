package io.rdmashuffle.transport.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * What this process holds: mappings of the bundled native libraries and of the software adapter's
 * memory, and descriptors.
 */
public record HeldNatives(long mappings, long descriptors) {
  private static final Path PROCESS = Path.of("/proc/self");

  /** At this moment. */
  public static HeldNatives now() throws IOException {
    try (Stream<String> maps = Files.lines(PROCESS.resolve("maps"));
        Stream<Path> descriptors = Files.list(PROCESS.resolve("fd"))) {
      return new HeldNatives(
          maps.filter(line -> line.matches(".*(libdisni\\.so|libsofthca\\.so|:softhca).*")).count(),
          descriptors.count());
    }
  }

  /** Once it is within the limit, or after a while: libdisni ends when its loader is collected. */
  public static HeldNatives afterCollection(HeldNatives limit) throws IOException {
    long deadlineNs = System.nanoTime() + Patience.of(Duration.ofSeconds(20)).toNanos();
    HeldNatives held;
    do {
      System.gc();
      held = now();
    } while (!held.isWithin(limit) && System.nanoTime() < deadlineNs);
    return held;
  }

  /** Whether neither number is higher. */
  public boolean isWithin(HeldNatives limit) {
    return mappings <= limit.mappings && descriptors <= limit.descriptors;
  }
}
