package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.verbs.VerbsContract;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The software adapter, loaded from this module's own build. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SoftVerbsTest extends VerbsContract {
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
  protected OptionalInt openObjects() {
    return OptionalInt.of(soft.openObjects());
  }
}
