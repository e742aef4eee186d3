package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Transports on an adapter of this host: see {@link TestDevice#ofSystem}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemTransportTest extends TransportContract {
  private TestDevice device;
  private DisniProvider system;

  @BeforeAll
  void load() throws Exception {
    device = TestDevice.ofSystem();
    system = device.load();
  }

  @AfterAll
  void unload() {
    if (system != null) {
      system.close();
    }
  }

  @Override
  protected VerbsProvider provider() {
    return system;
  }

  @Override
  protected InetAddress address() {
    return device.address();
  }

  @Override
  protected void assertNothingOpen() {
    assertThat(system.openObjects()).isZero();
  }
}
