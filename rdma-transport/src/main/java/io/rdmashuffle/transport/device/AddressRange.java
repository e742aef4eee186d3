package io.rdmashuffle.transport.device;

import java.net.Inet4Address;
import java.util.function.Predicate;

/**
 * Which addresses of this host may be taken.
 *
 * @param text the setting that says so, for messages
 * @param allows whether an address is in it
 */
public record AddressRange(String text, Predicate<Inet4Address> allows) {
  /** All of them. */
  public static final AddressRange ANY = new AddressRange("any address", address -> true);

  boolean allows(NetdevAddress address) {
    return allows.test(address.address());
  }
}
