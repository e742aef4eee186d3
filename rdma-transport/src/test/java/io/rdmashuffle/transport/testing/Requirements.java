package io.rdmashuffle.transport.testing;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * States what a test needs of the host it runs on: a device, a tool, a kernel.
 *
 * <p>Where it is missing, the test is skipped with the reason. CI installs everything and sets
 * {@code RDMASHUFFLE_CI=true} in the environment: there the test fails instead, so that a broken CI
 * host cannot pass by skipping.
 */
public final class Requirements {
  private static final String CI = "RDMASHUFFLE_CI";

  private Requirements() {}

  /**
   * Skips the running test, or fails it on CI, unless what it needs is there.
   *
   * @param present whether the host has it
   * @param reason what is missing, as a sentence a reader of the test report can act on
   */
  public static void require(boolean present, String reason) {
    require(present, reason, System.getenv(CI));
  }

  static void require(boolean present, String reason, String ci) {
    if (present) {
      return;
    }
    if (Boolean.parseBoolean(ci)) {
      fail(reason + " (" + CI + "=true: nothing may be skipped)");
    }
    assumeTrue(false, reason);
  }
}
