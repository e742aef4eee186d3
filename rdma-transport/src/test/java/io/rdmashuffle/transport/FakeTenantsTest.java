package io.rdmashuffle.transport;

import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;

/** Owners and readers on the adapter in memory. */
final class FakeTenantsTest extends TenantsContract {
  private final FakeFabric fabric = FakeFabric.immediate();

  @Override
  protected VerbsProvider provider() {
    return fabric.newProcess(Long.MAX_VALUE, 4096);
  }

  @Override
  protected InetAddress address() {
    return fabric.addAdapter();
  }

  @Override
  protected void assertNothingOpen() {
    fabric.assertNothingOpen();
  }
}
