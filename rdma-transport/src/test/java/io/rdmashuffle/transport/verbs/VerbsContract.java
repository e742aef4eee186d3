package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What the Javadoc of the verbs interface promises, as tests. One subclass per implementation or
 * kind of device; none may override a test. Where devices rightly differ, a method of this class
 * says how and why, and the tests ask it.
 *
 * <p>Every test starts with a fresh {@link VerbsRig} and must leave nothing open.
 */
public abstract class VerbsContract
    implements ConnectionContract,
        ReadContract,
        ReadFailureContract,
        MessageContract,
        WaitingContract,
        MemoryContract,
        LifecycleContract {
  private VerbsProvider provider;
  private VerbsRig rig;

  /**
   * The provider under test, or aborts with the reason this host cannot run it. Called before each
   * test; may hand out the same one each time, which the suite does not close.
   */
  protected abstract VerbsProvider provider() throws Exception;

  /** The address that leads to the device under test. */
  protected abstract InetAddress localAddress() throws Exception;

  /**
   * How many native objects of the provider are open, where it counts them. Compared before and
   * after each test.
   */
  protected OptionalInt openObjects() {
    return OptionalInt.empty();
  }

  private OptionalInt openBefore;

  @BeforeEach
  final void openRig() throws Exception {
    provider = provider();
    openBefore = openObjects();
    rig = new VerbsRig(provider, localAddress());
  }

  @AfterEach
  final void closeRig() {
    if (rig != null) {
      rig.close();
      rig = null;
      assertThat(openObjects()).as("objects left open").isEqualTo(openBefore);
    }
  }

  @Override
  public final VerbsRig rig() {
    return rig;
  }
}
