package io.rdmashuffle.transport;

import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.nio.file.Path;

/** Another provider, in a process with a lower memlock limit: the kernel's, getrlimit(2). */
record LimitedProvider(VerbsProvider provider, long memlockBytes) implements VerbsProvider {
  @Override
  public Device open(InetAddress address) throws VerbsException {
    return provider.open(address);
  }

  @Override
  public HostMemory hostMemory() {
    return new Limited(provider.hostMemory(), memlockBytes);
  }

  /** The other provider belongs to somebody else. */
  @Override
  public void close() {}

  private record Limited(HostMemory memory, long memlockBytes) implements HostMemory {
    @Override
    public int pageBytes() {
      return memory.pageBytes();
    }

    @Override
    public Mapping allocate(long bytes) throws VerbsException {
      return memory.allocate(bytes);
    }

    @Override
    public HeldFile holdBeneath(Path directory, Path relative) throws VerbsException {
      return memory.holdBeneath(directory, relative);
    }

    @Override
    public Mapping mapFile(Path file, long offsetBytes, long bytes, MapMode mode)
        throws VerbsException {
      return memory.mapFile(file, offsetBytes, bytes, mode);
    }
  }
}
