package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;

/** One process on the fabric. */
final class FakeProvider implements VerbsProvider {
  private final FakeFabric fabric;
  private final FakeHostMemory memory;

  FakeProvider(FakeFabric fabric, FakeHostMemory memory) {
    this.fabric = fabric;
    this.memory = memory;
  }

  @Override
  public HostMemory hostMemory() {
    return memory;
  }

  @Override
  public Device open(InetAddress local) throws VerbsException {
    synchronized (fabric) {
      FakeAdapter adapter = fabric.adapter(local);
      if (adapter == null) {
        throw Tracked.failure(
            Kind.CONFIG, "no adapter owns " + local.getHostAddress(), Errno.ENODEV);
      }
      return new FakeDevice(fabric, adapter, memory);
    }
  }

  @Override
  public void close() {
    // Nothing is loaded; what is still open is the ledger's to report.
  }
}
