package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.VerbsContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The fake keeps the contract of real adapters. */
class FakeVerbsTest extends VerbsContract {
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
  protected OptionalInt openObjects() {
    return OptionalInt.of(Stream.of(Resource.values()).mapToInt(fabric::openCount).sum());
  }
}
