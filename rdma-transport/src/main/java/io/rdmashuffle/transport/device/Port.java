package io.rdmashuffle.transport.device;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One port of an adapter.
 *
 * @param adapter its name, as in mlx5_0
 * @param number from 1
 * @param link its state
 * @param lids addresses in the subnet
 * @param gids entries of its GID table that are in use
 * @param interfaces network interfaces on it, with their IPv4 addresses
 */
public record Port(
    String adapter, int number, Link link, Lids lids, List<Gid> gids, List<Interface> interfaces) {

  /**
   * Addresses in an InfiniBand subnet; 0 without one.
   *
   * @param own of the port
   * @param subnetManager of the subnet manager
   */
  public record Lids(int own, int subnetManager) {}

  /**
   * A network interface of the port: of RoCE and iWARP the Ethernet one, of InfiniBand IPoIB.
   *
   * @param name as in eth0
   * @param addresses its IPv4 addresses that lead to the port
   * @param whyNone why it has none, empty if it just was not given one
   */
  public record Interface(String name, List<NetdevAddress> addresses, String whyNone) {}

  /** How settings and messages name it: mlx5_0:1. */
  public String name() {
    return adapter + ":" + number;
  }

  /** All IPv4 addresses that lead here, those first that peers can most likely reach. */
  public List<NetdevAddress> addresses() {
    return interfaces.stream()
        .flatMap(i -> i.addresses().stream())
        .sorted(Comparator.comparingInt(NetdevAddress::rank))
        .toList();
  }

  /** Why it cannot carry RDMA now, and what to do about it. Empty if it can. */
  public Optional<String> whyUnusable() {
    if (!link.isActive()) {
      return Optional.of(whyNotActive());
    }
    if (gids.stream().allMatch(Gid::isZero)) {
      return Optional.of(
          "shows no GID: a container needs the host's network namespace, or the device moved into"
              + " its own (rdma dev set DEVICE netns)");
    }
    if (addresses().isEmpty()) {
      return Optional.of(whyNoAddress());
    }
    return Optional.empty();
  }

  private String whyNotActive() {
    String state = "is " + link.state() + " (" + link.physicalState() + ")";
    boolean linkUp = link.physicalState().equals("LinkUp");
    if (linkUp && link.isInfiniBand()) {
      return state + ": no subnet manager has activated it, start one (opensm)";
    }
    return state + ": check cable, switch and driver (ibstat, ip link)";
  }

  private String whyNoAddress() {
    List<String> reasons =
        interfaces.stream().map(Interface::whyNone).filter(why -> !why.isEmpty()).toList();
    if (!reasons.isEmpty()) {
      return String.join(", ", reasons);
    }
    if (!interfaces.isEmpty()) {
      String names = String.join(", ", interfaces.stream().map(Interface::name).toList());
      return "has no IPv4 address: give " + names + " one (ip address add)";
    }
    return link.isInfiniBand()
        ? "has no IPoIB interface to find peers by: load ib_ipoib and give it an IPv4 address"
        : "has no network interface in this network namespace";
  }

  /** One line for people. */
  public String describe() {
    StringBuilder text = new StringBuilder(name());
    text.append(' ').append(link.state()).append(' ').append(link.layer());
    text.append(' ').append(link.rate());
    if (link.isInfiniBand()) {
      text.append(String.format(", LID 0x%x, SM LID 0x%x", lids.own(), lids.subnetManager()));
    }
    for (Interface netdev : interfaces) {
      text.append(", ").append(netdev.name());
      netdev.addresses().forEach(a -> text.append(' ').append(a.text()));
    }
    whyUnusable().ifPresent(why -> text.append("; ").append(why));
    return text.toString();
  }
}
