package io.rdmashuffle.transport.device;

import io.rdmashuffle.transport.device.Adapter.Transport;
import io.rdmashuffle.transport.device.Port.Interface;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Tells which network interfaces, and which of their IPv4 addresses, lead to a port.
 *
 * <p>sysfs shows adapters and their GIDs to every network namespace, with the names that interfaces
 * have in their own one. So an interface of that name may be another one here: it counts only if
 * the GIDs prove that it is the port's.
 */
final class PortInterfaces {
  private static final int ARPHRD_INFINIBAND = 32; // linux/if_arp.h
  private static final String REMEDY =
      "; a container needs the host's network namespace or an interface of this port"
          + " (SR-IOV, macvlan)";

  private final Path netdevs;
  private final NetdevAddresses addresses;

  PortInterfaces(HostPaths paths, NetdevAddresses addresses) {
    this.netdevs = paths.netdevs();
    this.addresses = addresses;
  }

  /** Of InfiniBand: the IPoIB interfaces that the adapter has on this port, or their bonds. */
  List<Interface> ipoib(Path device, int port) {
    Path folder = device.resolve("device/net");
    return KernelFiles.names(folder).stream()
        .map(folder::resolve)
        .filter(netdev -> KernelFiles.number(netdev.resolve("type"), 0) == ARPHRD_INFINIBAND)
        .filter(netdev -> KernelFiles.number(netdev.resolve("dev_port"), 0) == port - 1)
        .map(this::ipoib)
        .toList();
  }

  /** A bond over IPoIB has the address, and its hardware address is that of the active member. */
  private Interface ipoib(Path netdev) {
    String name = netdev.getFileName().toString();
    String master = KernelFiles.linkedName(netdev.resolve("master"));
    Path bonding = netdevs.resolve(master).resolve("bonding");
    if (master.isEmpty() || KernelFiles.names(bonding).isEmpty()) {
      return new Interface(name, addresses.of(name), "");
    }
    String active = KernelFiles.text(bonding.resolve("active_slave"));
    if (active.isEmpty() || active.equals(name)) {
      return new Interface(master, addresses.of(master), "");
    }
    String why = "has only " + name + ", a standby of " + master + ", whose active member is ";
    return new Interface(master, List.of(), why + active);
  }

  /** Of RoCE and iWARP. */
  List<Interface> ethernet(Path device, Transport transport, List<Gid> gids) {
    boolean isIwarp = transport == Transport.IWARP;
    Set<String> names = new LinkedHashSet<>();
    gids.stream().map(Gid::netdev).filter(n -> !n.isEmpty()).forEach(names::add);
    if (names.isEmpty()) {
      String parent = KernelFiles.text(device.resolve("parent"));
      names.addAll(
          parent.isEmpty() ? KernelFiles.names(device.resolve("device/net")) : List.of(parent));
    }
    if (names.isEmpty() && isIwarp) { // all that siw shows on 6.1
      KernelFiles.names(netdevs).stream().filter(n -> hasMacOf(n, gids)).forEach(names::add);
    }
    return names.stream().map(name -> isIwarp ? iwarp(name, gids) : roce(name, gids)).toList();
  }

  private Interface roce(String name, List<Gid> gids) {
    List<NetdevAddress> here = addresses.of(name);
    List<NetdevAddress> own =
        here.stream()
            .filter(a -> gids.stream().anyMatch(gid -> gid.isOf(name, a.address())))
            .toList();
    return new Interface(name, own, own.isEmpty() ? whyNone(name, here, gids) : "");
  }

  private static String whyNone(String name, List<NetdevAddress> here, List<Gid> gids) {
    String elsewhere =
        gids.stream()
            .filter(gid -> gid.netdev().isEmpty() || gid.netdev().equals(name))
            .flatMap(gid -> gid.ipv4().stream())
            .distinct()
            .collect(Collectors.joining(", "));
    if (!elsewhere.isEmpty()) {
      return "has " + elsewhere + " on " + name + " of another network namespace" + REMEDY;
    }
    String own = here.stream().map(NetdevAddress::text).collect(Collectors.joining(", "));
    return own.isEmpty() ? "" : "has no GID of " + own + ", the address of " + name + REMEDY;
  }

  /** GIDs of iWARP hold no addresses, but the MAC address. */
  private Interface iwarp(String name, List<Gid> gids) {
    String mac = mac(name);
    boolean isUnknown = mac.chars().allMatch(c -> c == '0'); // not told, or a loopback
    if (isUnknown || hasMacOf(name, gids) || gids.stream().allMatch(gid -> gid.mac().isEmpty())) {
      return new Interface(name, addresses.of(name), "");
    }
    return new Interface(
        name, List.of(), "is on a " + name + " of another network namespace" + REMEDY);
  }

  private boolean hasMacOf(String name, List<Gid> gids) {
    String mac = mac(name);
    return gids.stream().anyMatch(gid -> gid.mac().filter(mac::equals).isPresent());
  }

  private String mac(String name) {
    return KernelFiles.text(netdevs.resolve(name).resolve("address")).replace(":", "");
  }
}
