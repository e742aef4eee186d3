package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Owners and readers on the software adapter, through DiSNI and native code. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SoftTenantsTest extends TenantsContract {
  private DisniProvider soft;

  @BeforeAll
  void load() {
    soft = SoftAdapter.load();
  }

  @AfterAll
  void unload() {
    if (soft != null) {
      soft.close();
    }
  }

  @Override
  protected VerbsProvider provider() {
    return soft;
  }

  @Override
  protected InetAddress address() throws Exception {
    return InetAddress.getByName("127.0.0.1");
  }

  @Override
  protected void assertNothingOpen() {
    assertThat(soft.openObjects()).isZero();
  }
}
