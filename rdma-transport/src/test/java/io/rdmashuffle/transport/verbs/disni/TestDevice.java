package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.testing.Requirements;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Which device tests run on: {@code soft}, or {@code system:ADDRESS} for the adapter of this host
 * that owns an IPv4 address.
 *
 * @param system the host's own libraries, not the software adapter
 */
public record TestDevice(boolean system, InetAddress address) {
  /** Names the device. Set it with {@code -Drdmashuffle.test.device=} on Maven's command line. */
  public static final String PROPERTY = "rdmashuffle.test.device";

  private static final String SYSTEM = "system:";

  /** What {@link #PROPERTY} says; the software adapter where it says nothing. */
  public static TestDevice chosen() throws UnknownHostException {
    return parse(System.getProperty(PROPERTY, "soft"));
  }

  /**
   * The adapter that {@link #PROPERTY} names. Tests that need one are left out of ordinary builds
   * (see pom.xml): ask for them by name, or let dev/test-verbs run them.
   */
  public static TestDevice ofSystem() throws UnknownHostException {
    TestDevice chosen = chosen();
    Requirements.require(
        chosen.system(), "no adapter is named: set -D" + PROPERTY + "=system:ADDRESS");
    return chosen;
  }

  static TestDevice parse(String name) throws UnknownHostException {
    if (name.equals("soft")) {
      return new TestDevice(false, InetAddress.getByName("127.0.0.1"));
    }
    if (name.startsWith(SYSTEM) && name.length() > SYSTEM.length()) {
      return new TestDevice(true, InetAddress.getByName(name.substring(SYSTEM.length())));
    }
    throw new IllegalArgumentException(
        PROPERTY + "=" + name + " is neither soft nor system:ADDRESS");
  }

  public DisniProvider load() throws TransportException {
    return system ? DisniProviders.system() : DisniProviders.soft();
  }
}
