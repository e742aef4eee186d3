package io.rdmashuffle.transport.device;

import java.net.Inet4Address;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One entry of a port's table of global identifiers.
 *
 * @param index in the table
 * @param value eight groups of four hexadecimal digits
 * @param type which packets it stands for
 * @param netdev the network interface it comes from, whatever network namespace that is in; empty
 *     for InfiniBand
 */
public record Gid(int index, String value, Type type, String netdev) {
  private static final Pattern MAPPED_IPV4 =
      Pattern.compile("(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})");

  private static final int MAC_DIGITS = 12;

  /** As gid_attrs/types tells. */
  public enum Type {
    /** "IB/RoCE v1": the only one of InfiniBand, and RoCE over bare Ethernet. */
    IB_ROCE_V1,
    /** RoCE over UDP, which can be routed. */
    ROCE_V2,
    OTHER;

    static Type of(String text) {
      return switch (text) {
        case "IB/RoCE v1" -> IB_ROCE_V1;
        case "RoCE v2" -> ROCE_V2;
        default -> OTHER;
      };
    }
  }

  /** Whether it is an unused entry, or one that a container's namespace hides. */
  public boolean isZero() {
    return value.chars().allMatch(c -> c == '0' || c == ':');
  }

  /** The IPv4 address it stands for, as in 10.0.0.1: all of RoCE but the link-local ones. */
  Optional<String> ipv4() {
    Matcher mapped = MAPPED_IPV4.matcher(value);
    if (!mapped.matches()) {
      return Optional.empty();
    }
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= mapped.groupCount(); i++) {
      text.append(i == 1 ? "" : ".").append(Integer.parseInt(mapped.group(i), 16));
    }
    return Optional.of(text.toString());
  }

  /** Whether it stands for this address of this interface. */
  boolean isOf(String interfaceName, Inet4Address address) {
    return (netdev.isEmpty() || netdev.equals(interfaceName))
        && ipv4().filter(address.getHostAddress()::equals).isPresent();
  }

  /** Of iWARP: the twelve digits of the MAC address, which zeros follow (siw_query_gid). */
  Optional<String> mac() {
    String digits = value.replace(":", "");
    String mac = digits.substring(0, Math.min(MAC_DIGITS, digits.length()));
    return digits.substring(mac.length()).chars().allMatch(c -> c == '0')
        ? Optional.of(mac)
        : Optional.empty();
  }
}
