package io.rdmashuffle.transport.protocol;

import io.rdmashuffle.transport.BlockProtocolContract;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;

/** On the in-memory fake. */
final class FakeBlockProtocolTest extends BlockProtocolContract {
  private final FakeFabric fabric = FakeFabric.immediate();
  private final InetAddress address = fabric.addAdapter();

  @Override
  protected VerbsProvider provider() {
    return fabric.provider();
  }

  @Override
  protected InetAddress localAddress() {
    return address;
  }

  @Override
  protected void assertNothingOpen() {
    fabric.assertNothingOpen();
  }
}
