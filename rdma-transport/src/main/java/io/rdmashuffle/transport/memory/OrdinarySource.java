package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import java.nio.ByteBuffer;

/**
 * Gives memory that no adapter knows: outside the Java heap, mapped and unmapped like registered
 * memory, and so no part of what {@code -XX:MaxDirectMemorySize} bounds. It is not counted by a
 * {@link MemoryBudget}: the size of the pool that it is for bounds it. Any thread.
 *
 * @param host the process's memory, lent
 * @param name what the memory is for, for logs
 */
public record OrdinarySource(HostMemory host, String name) implements SlabSource {
  @Override
  public SlabMemory allocate(long bytes) throws TransportException {
    return new Ordinary(host.allocate(new Pages(host.pageBytes()).up(bytes)));
  }

  private record Ordinary(Mapping mapping) implements SlabMemory {
    @Override
    public long address() {
      return mapping.address();
    }

    @Override
    public int lkey() {
      throw new IllegalStateException("memory that is not registered has no lkey");
    }

    @Override
    public int rkey() {
      throw new IllegalStateException("memory that is not registered has no rkey");
    }

    @Override
    public ByteBuffer view(long offsetBytes, int bytes) {
      return mapping.view(offsetBytes, bytes);
    }

    @Override
    public void deregister() {
      // no adapter knows it
    }

    @Override
    public void close() {
      mapping.close();
    }
  }
}
