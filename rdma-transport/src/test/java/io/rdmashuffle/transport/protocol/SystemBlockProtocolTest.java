package io.rdmashuffle.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.BlockProtocolContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * On an adapter of this host, or one of the kernel's software ones: {@link TestDevice#ofSystem}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemBlockProtocolTest extends BlockProtocolContract {
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
  protected void assertNothingOpen() {
    assertThat(provider.openObjects()).isZero();
  }
}
