package io.rdmashuffle.core.config;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An IPv4 network such as {@code 10.1.0.0/16}, or one address. Immutable.
 *
 * @param network its first address
 * @param prefixBits how many leading bits count, 32 for one address
 */
public record BindNetwork(int network, int prefixBits) implements Comparable<BindNetwork> {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})(?:/(\\d{1,2}))?");

  private static final String ANY_TEXT = "any";

  /** Every address is in it; stands for "not set". */
  public static final BindNetwork ANY = new BindNetwork(0, 0);

  public BindNetwork {
    if (prefixBits < 0 || prefixBits > 32) {
      throw new IllegalArgumentException("a prefix of " + prefixBits + " bits");
    }
    network &= mask(prefixBits);
  }

  /**
   * @throws IllegalArgumentException if the text is no IPv4 address or network
   */
  public static BindNetwork parse(String text) {
    if (text.isBlank() || text.trim().equals(ANY_TEXT)) {
      return ANY;
    }
    Matcher form = FORM.matcher(text.trim());
    if (!form.matches()) {
      throw new IllegalArgumentException(text);
    }
    int address = 0;
    for (int part = 1; part <= 4; part++) {
      int octet = Integer.parseInt(form.group(part));
      if (octet > 255) {
        throw new IllegalArgumentException(text);
      }
      address = address << 8 | octet;
    }
    return new BindNetwork(address, form.group(5) == null ? 32 : Integer.parseInt(form.group(5)));
  }

  public boolean isSet() {
    return prefixBits != 0;
  }

  public boolean contains(Inet4Address address) {
    byte[] raw = address.getAddress();
    int value = 0;
    for (byte octet : raw) {
      value = value << 8 | Byte.toUnsignedInt(octet);
    }
    return (value & mask(prefixBits)) == network;
  }

  private static int mask(int bits) {
    return bits == 0 ? 0 : -1 << (32 - bits);
  }

  @Override
  public int compareTo(BindNetwork other) {
    int byNetwork = Integer.compareUnsigned(network, other.network);
    return byNetwork != 0 ? byNetwork : Integer.compare(prefixBits, other.prefixBits);
  }

  @Override
  public String toString() {
    if (!isSet()) {
      return ANY_TEXT;
    }
    byte[] raw = {
      (byte) (network >> 24), (byte) (network >> 16), (byte) (network >> 8), (byte) network
    };
    try {
      String address = InetAddress.getByAddress(raw).getHostAddress();
      return prefixBits == 32 ? address : address + "/" + prefixBits;
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e); // only for a length other than 4 or 16
    }
  }
}
