package io.rdmashuffle.transport.server;

import java.util.List;

/**
 * What one reply granted, held until the reader is done with it.
 *
 * @param claims uses of windows
 * @param staged copies of blocks
 */
record Lease(List<WindowClaim> claims, List<StagedMemory> staged) {
  boolean isEmpty() {
    return claims.isEmpty() && staged.isEmpty();
  }

  /** Once: then windows may be evicted and staging memory is used again. */
  void end(DomainState domain) {
    claims.forEach(domain.windows()::release);
    staged.forEach(domain.staging()::release);
  }
}
