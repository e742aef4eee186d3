package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Host memory that a test can write to by address, as an adapter does. */
final class RecordingMemory implements HostMemory {
  private final HostMemory host;
  private final TreeMap<Long, Mapping> mappings = new TreeMap<>();
  private int addressesLeft = Integer.MAX_VALUE;

  RecordingMemory(HostMemory host) {
    this.host = host;
  }

  /** The memory at the address, which must be mapped. */
  ByteBuffer at(long address, int bytes) {
    Map.Entry<Long, Mapping> entry = mappings.floorEntry(address);
    return entry.getValue().view(address - entry.getKey(), bytes);
  }

  @Override
  public int pageBytes() {
    return host.pageBytes();
  }

  @Override
  public long memlockBytes() {
    return host.memlockBytes();
  }

  @Override
  public Mapping allocate(long bytes) throws VerbsException {
    Mapping mapping = host.allocate(bytes);
    mappings.put(mapping.address(), mapping);
    return new Asked(mapping);
  }

  /** That many more times the address of a mapping is told, then once not. */
  void failAfter(int times) {
    addressesLeft = times;
  }

  /** Whether that has happened. */
  boolean hasFailed() {
    return addressesLeft < 0;
  }

  private final class Asked implements Mapping {
    private final Mapping mapping;

    Asked(Mapping mapping) {
      this.mapping = mapping;
    }

    @Override
    public long address() {
      if (addressesLeft >= 0 && addressesLeft-- == 0) {
        throw new OutOfMemoryError("the test's shortage");
      }
      return mapping.address();
    }

    @Override
    public long bytes() {
      return mapping.bytes();
    }

    @Override
    public ByteBuffer view(long offsetBytes, int bytes) {
      return mapping.view(offsetBytes, bytes);
    }

    @Override
    public void close() {
      mapping.close();
    }
  }

  @Override
  public HeldFile holdBeneath(Path directory, Path relative) throws VerbsException {
    return host.holdBeneath(directory, relative);
  }

  @Override
  public Mapping mapFile(Path file, long offsetBytes, long bytes, MapMode mode)
      throws VerbsException {
    return host.mapFile(file, offsetBytes, bytes, mode);
  }
}
