package io.rdmashuffle.core.doctor;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How one doctor reaches another: {@code 10.0.0.7:40123/1f3c.../9ab0...}, to be carried by a
 * person. Whoever knows it can read the other doctor's sample, and nothing else.
 */
record PeerCode(InetSocketAddress address, long credentialId, byte[] secret) {
  private static final Pattern FORM =
      Pattern.compile("([0-9.]+):([0-9]{1,5})/([0-9a-f]{1,16})/((?:[0-9a-f]{2})+)");

  /**
   * @throws IllegalArgumentException if it is not such a code
   */
  static PeerCode parse(String text) {
    Matcher parts = FORM.matcher(text.strip());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "--peer takes the code that a doctor with --listen has printed, not " + text);
    }
    try {
      InetAddress host = InetAddress.getByName(parts.group(1)); // a literal, no lookup
      return new PeerCode(
          new InetSocketAddress(host, Integer.parseInt(parts.group(2))),
          Long.parseUnsignedLong(parts.group(3), 16),
          HexFormat.of().parseHex(parts.group(4)));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("not an address: " + parts.group(1), e);
    }
  }

  Invitation invitation() {
    return new Invitation.Ticket(List.of(address), credentialId, secret);
  }

  String format() {
    return address.getAddress().getHostAddress()
        + ":"
        + address.getPort()
        + "/"
        + Long.toHexString(credentialId)
        + "/"
        + HexFormat.of().formatHex(secret);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PeerCode code
        && address.equals(code.address)
        && credentialId == code.credentialId
        && Arrays.equals(secret, code.secret);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(credentialId);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
