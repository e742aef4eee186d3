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
    return mapping;
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
