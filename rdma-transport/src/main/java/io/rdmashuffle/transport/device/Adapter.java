package io.rdmashuffle.transport.device;

import java.util.List;
import java.util.Optional;

/**
 * One RDMA adapter as sysfs shows it.
 *
 * @param name as in mlx5_0
 * @param identity what sysfs says of the whole adapter
 * @param ports in order of their numbers
 * @param obstacle why this process cannot open it, if so
 */
public record Adapter(String name, Identity identity, List<Port> ports, Optional<String> obstacle) {

  /**
   * @param nodeGuid four groups of four hexadecimal digits
   * @param transport what it speaks
   * @param isSoftware whether the kernel emulates it (rxe, siw), which is slower than TCP
   */
  public record Identity(String nodeGuid, Transport transport, boolean isSoftware) {}

  /** As node_type tells. */
  public enum Transport {
    /** InfiniBand and RoCE: a channel adapter. */
    INFINIBAND,
    /** An RNIC. */
    IWARP,
    /** Something that cannot do reliable connections. */
    OTHER
  }

  /** Why no port of it can be used. Empty if the adapter itself is well. */
  public Optional<String> whyUnusable() {
    if (obstacle.isPresent()) {
      return obstacle;
    }
    if (identity.transport() == Transport.OTHER) {
      return Optional.of("is neither InfiniBand, RoCE nor iWARP");
    }
    if (!identity.isSoftware() && identity.nodeGuid().chars().allMatch(c -> c == '0' || c == ':')) {
      return Optional.of(
          "is a virtual function without a node GUID: the host must assign one"
              + " (ip link set DEVICE vf N node_guid)");
    }
    return ports.isEmpty() ? Optional.of("has no ports") : Optional.empty();
  }
}
