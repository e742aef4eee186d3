package io.rdmashuffle.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.BlockProtocolContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** On the software adapter, through the native library. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SoftBlockProtocolTest extends BlockProtocolContract {
  private DisniProvider soft;

  @BeforeAll
  void load() throws Exception {
    soft = DisniProviders.soft();
  }

  @AfterAll
  void unload() {
    soft.close();
  }

  @Override
  protected VerbsProvider provider() {
    return soft;
  }

  @Override
  protected InetAddress localAddress() throws Exception {
    return InetAddress.getByName("127.0.0.1");
  }

  @Override
  protected void assertNothingOpen() {
    assertThat(soft.openObjects()).isZero();
  }
}
