package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.verbs.VerbsContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The software adapter, loaded from this module's own build. */
final class SoftVerbsTest extends VerbsContract {
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
  protected InetAddress localAddress() throws Exception {
    return InetAddress.getByName("127.0.0.1");
  }

  @Override
  protected OptionalInt openObjects() {
    return OptionalInt.of(soft.openObjects());
  }
}
