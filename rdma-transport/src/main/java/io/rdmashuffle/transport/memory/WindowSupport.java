package io.rdmashuffle.transport.memory;

/**
 * Whether files of a place can be registered in place, as trying it has shown. Which mapping the
 * kernel lets an adapter pin depends on its version and on the file system: before about 6.2 every
 * region is pinned for writing, and read-only mappings are refused.
 *
 * @param mode the mapping that works
 * @param reason why none works, empty if one does
 */
public record WindowSupport(Mode mode, String reason) {
  /** A mapping that an adapter can pin. */
  public enum Mode {
    READ_ONLY,
    READ_WRITE,
    NONE
  }
}
