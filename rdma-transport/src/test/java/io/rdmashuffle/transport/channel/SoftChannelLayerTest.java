package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** On the software adapter, through the native library. */
final class SoftChannelLayerTest extends ChannelLayerContract {
  private static DisniProvider soft;

  @BeforeAll
  static void load() throws Exception {
    soft = DisniProviders.soft();
  }

  @AfterAll
  static void unload() {
    soft.close();
  }

  @Override
  protected VerbsProvider provider() {
    return soft;
  }

  @Override
  protected InetAddress ownerAddress() throws Exception {
    return InetAddress.getByName("127.0.0.1");
  }

  @Override
  protected InetAddress readerAddress() throws Exception {
    return ownerAddress();
  }

  @Override
  protected void assertNothingOpen() {
    assertThat(soft.openObjects()).isZero();
  }
}
