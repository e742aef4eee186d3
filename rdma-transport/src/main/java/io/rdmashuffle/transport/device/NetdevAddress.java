package io.rdmashuffle.transport.device;

import java.net.Inet4Address;

/**
 * An IPv4 address of a network interface.
 *
 * @param prefixBits of the subnet it is in
 */
public record NetdevAddress(Inet4Address address, int prefixBits) {
  private static final int HOST_BITS = 32;

  /**
   * How little an address says about how this host is reached: 0 for one in a subnet; 1 for a
   * single address (/32), which often is a virtual one that moves to other hosts; 2 for a
   * link-local one (169.254.0.0/16), which a host gives itself.
   */
  int rank() {
    if (isLinkLocal()) {
      return 2;
    }
    return prefixBits == HOST_BITS ? 1 : 0;
  }

  boolean isLinkLocal() {
    return address.isLinkLocalAddress();
  }

  /** As in 10.0.0.1. */
  String text() {
    return address.getHostAddress();
  }
}
