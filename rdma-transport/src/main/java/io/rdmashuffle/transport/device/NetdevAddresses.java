package io.rdmashuffle.transport.device;

import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Tells the IPv4 addresses of a network interface. */
@FunctionalInterface
public interface NetdevAddresses {
  /**
   * In the kernel's order: the primary address of each subnet as it was added, then the others.
   * Empty if the interface has none, or is not in this network namespace.
   */
  List<NetdevAddress> of(String netdev);

  /** Asks the host. */
  static NetdevAddresses system() {
    return netdev -> {
      try {
        NetworkInterface found = NetworkInterface.getByName(netdev);
        return found == null ? List.of() : inKernelOrder(found.getInterfaceAddresses());
      } catch (SocketException e) {
        return List.of();
      }
    };
  }

  /**
   * The JDK puts each address that SIOCGIFCONF lists (netdevice(7)) before the ones it has
   * (NetworkInterface.c), so its order is the kernel's backwards.
   */
  private static List<NetdevAddress> inKernelOrder(List<InterfaceAddress> found) {
    List<NetdevAddress> addresses = new ArrayList<>();
    for (InterfaceAddress entry : found) {
      if (entry.getAddress() instanceof Inet4Address address) {
        addresses.add(new NetdevAddress(address, entry.getNetworkPrefixLength()));
      }
    }
    Collections.reverse(addresses);
    return List.copyOf(addresses);
  }
}
