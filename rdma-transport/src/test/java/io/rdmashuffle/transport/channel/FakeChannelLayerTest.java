package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;

final class FakeChannelLayerTest extends ChannelLayerContract {
  private final FakeFabric fabric = FakeFabric.immediate();
  private final InetAddress owner = fabric.addAdapter();
  private final InetAddress reader = fabric.addAdapter();

  @Override
  protected VerbsProvider provider() {
    return fabric.provider();
  }

  @Override
  protected InetAddress ownerAddress() {
    return owner;
  }

  @Override
  protected InetAddress readerAddress() {
    return reader;
  }

  @Override
  protected void assertNothingOpen() {
    fabric.assertNothingOpen();
  }
}
