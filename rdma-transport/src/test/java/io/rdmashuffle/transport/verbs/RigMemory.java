package io.rdmashuffle.transport.verbs;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A mapping with the region over it. */
public record RigMemory(Mapping mapping, MemoryRegion region) {
  byte[] bytes() {
    return bytes(0, (int) mapping.bytes());
  }

  byte[] bytes(int offset, int length) {
    byte[] copy = new byte[length];
    mapping.view(offset, length).get(copy);
    return copy;
  }

  void fill(byte value) {
    byte[] content = new byte[(int) mapping.bytes()];
    Arrays.fill(content, value);
    view().put(content);
  }

  ByteBuffer view() {
    return mapping.view(0, (int) mapping.bytes());
  }
}
