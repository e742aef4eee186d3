package io.rdmashuffle.transport;

import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** Transports on the adapter in memory. */
final class FakeTransportTest extends TransportContract {
  private final FakeFabric fabric = FakeFabric.immediate();

  @BeforeEach
  void keysAndAddressesComeBackAtOnce() {
    fabric.reuseKeysAndAddresses();
  }

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

  /** With too little memory. */
  @Nested
  final class Scarce extends ScarceMemoryContract {
    @Override
    protected VerbsProvider provider() {
      return FakeTransportTest.this.provider();
    }

    @Override
    protected InetAddress address() {
      return FakeTransportTest.this.address();
    }

    @Override
    protected void assertNothingOpen() {
      FakeTransportTest.this.assertNothingOpen();
    }

    @Override
    protected VerbsProvider provider(long memlockBytes) {
      return fabric.newProcess(memlockBytes, 4096);
    }
  }
}
