package io.rdmashuffle.transport.device;

import java.util.List;
import java.util.Optional;

/**
 * One RDMA adapter as sysfs shows it.
 *
 * @param name as in mlx5_0
 * @param nodeGuid four groups of four hexadecimal digits
 * @param transport what it speaks
 * @param isSoftware whether the kernel emulates it (rxe, siw), which is slower than TCP
 * @param ports in order of their numbers
 */
public record Adapter(
    String name, String nodeGuid, Transport transport, boolean isSoftware, List<Port> ports) {

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
    if (transport == Transport.OTHER) {
      return Optional.of("is neither InfiniBand, RoCE nor iWARP");
    }
    if (!isSoftware && nodeGuid.chars().allMatch(c -> c == '0' || c == ':')) {
      return Optional.of(
          "is a virtual function without a node GUID: the host must assign one"
              + " (ip link set DEVICE vf N node_guid)");
    }
    return ports.isEmpty() ? Optional.of("has no ports") : Optional.empty();
  }
}
