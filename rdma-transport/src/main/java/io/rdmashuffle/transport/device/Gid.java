package io.rdmashuffle.transport.device;

/**
 * One entry of a port's table of global identifiers.
 *
 * @param index in the table
 * @param value eight groups of four hexadecimal digits
 * @param type which packets it stands for
 * @param netdev the network interface it comes from, empty for InfiniBand
 */
public record Gid(int index, String value, Type type, String netdev) {
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
}
