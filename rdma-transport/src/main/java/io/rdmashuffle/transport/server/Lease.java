package io.rdmashuffle.transport.server;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What one reply granted, held until the reader is done with it. Small, as a reader may hold many:
 * about a kilobyte for 256 blocks.
 */
final class Lease {
  private final Window[] uses;
  private final List<StagedMemory> staged;

  /**
   * @param claims settled ones; the lease takes over their uses of windows
   * @param staged copies of blocks
   */
  Lease(List<WindowClaim> claims, List<StagedMemory> staged) {
    this.uses = claims.stream().flatMap(c -> c.windows().stream()).toArray(Window[]::new);
    this.staged = List.copyOf(staged);
  }

  boolean isEmpty() {
    return uses.length == 0 && staged.isEmpty();
  }

  /** Whether it holds a window of such a file. */
  boolean holdsAny(Predicate<OutputFile> files) {
    return Stream.of(uses).anyMatch(window -> files.test(window.entry().file()));
  }

  /** Once: then windows may be evicted and staging memory is used again. */
  void end(DomainState domain) {
    for (Window window : uses) {
      domain.windows().release(window);
    }
    for (int i = 0; i < staged.size(); i++) {
      domain.staging().release(staged.get(i));
    }
  }
}
