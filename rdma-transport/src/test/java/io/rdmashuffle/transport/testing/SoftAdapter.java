package io.rdmashuffle.transport.testing;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.util.stream.Stream;

/** The software adapter {@code soft}, for tests that run on it where it is built. Any thread. */
public final class SoftAdapter {
  private SoftAdapter() {}

  /** Loads it; the caller closes it. Where it cannot be loaded, as {@link Requirements} says. */
  public static DisniProvider load() {
    try {
      return DisniProviders.soft();
    } catch (TransportException e) {
      Requirements.require(false, e.getMessage());
      throw new IllegalStateException(e); // not reached: the line above throws
    }
  }

  /** For tests whose processes load it themselves. */
  public static void require() {
    Requirements.require(
        Stream.of("x86_64", "aarch64").anyMatch(SoftAdapter::isBuiltFor),
        "the software adapter is not built; it needs gcc and the headers of libibverbs");
  }

  private static boolean isBuiltFor(String machine) {
    return SoftAdapter.class.getResource("/native/linux-" + machine + "/libsofthca.so") != null;
  }
}
