package io.rdmashuffle.transport.device;

import java.util.regex.Pattern;

/**
 * Which device a user asks for: {@code auto}; {@code soft}, the software adapter of this project;
 * an adapter ({@code mlx5_0}); a port ({@code mlx5_0:1}); or an IPv4 address of a port. Immutable.
 *
 * @param text without surrounding white space
 */
public record DeviceSetting(String text) implements Comparable<DeviceSetting> {
  /** What is allowed, for messages. */
  public static final String FORM =
      "auto, soft, an adapter (mlx5_0), a port of it (mlx5_0:1) or an IPv4 address of a port";

  private static final String SOFT = "soft";
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
  private static final Pattern NAME = Pattern.compile("[^\\s:/]+(:[1-9][0-9]{0,3})?");
  private static final Pattern NUMBERS = Pattern.compile("[0-9.:]+");

  /** The fastest real adapter. */
  public static final DeviceSetting AUTO = new DeviceSetting("auto");

  /**
   * @throws IllegalArgumentException if the text is none of the forms
   */
  public DeviceSetting {
    text = text.strip();
    boolean isName = NAME.matcher(text).matches() && !NUMBERS.matcher(text).matches();
    if (!isName && !IPV4.matcher(text).matches()) {
      throw new IllegalArgumentException("\"" + text + "\" names no device; allowed: " + FORM);
    }
  }

  /** Whether any real adapter will do. */
  public boolean isAuto() {
    return text.equals(AUTO.text);
  }

  boolean isSoft() {
    return text.equals(SOFT);
  }

  boolean isAddress() {
    return IPV4.matcher(text).matches();
  }

  /** Whether this port is meant, or may be taken. */
  boolean matches(Port port) {
    return isAuto()
        || text.equals(port.adapter())
        || text.equals(port.name())
        || port.addresses().stream().anyMatch(a -> a.text().equals(text));
  }

  /** Whether the address is meant, or may be taken. */
  boolean matches(NetdevAddress address) {
    return !isAddress() || address.text().equals(text);
  }

  @Override
  public int compareTo(DeviceSetting other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
