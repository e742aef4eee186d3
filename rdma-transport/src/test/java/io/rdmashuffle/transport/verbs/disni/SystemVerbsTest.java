package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.verbs.VerbsContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** An adapter of this host, or one of the kernel's software ones: {@link TestDevice#ofSystem}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemVerbsTest extends VerbsContract {
  private TestDevice device;
  private DisniProvider provider;

  @BeforeAll
  void load() throws Exception {
    device = TestDevice.ofSystem();
    provider = device.load();
  }

  @AfterAll
  void unload() {
    if (provider != null) {
      provider.close();
    }
  }

  @Override
  protected VerbsProvider provider() {
    return provider;
  }

  @Override
  protected InetAddress localAddress() {
    return device.address();
  }

  @Override
  protected OptionalInt openObjects() {
    return OptionalInt.of(provider.openObjects());
  }
}
