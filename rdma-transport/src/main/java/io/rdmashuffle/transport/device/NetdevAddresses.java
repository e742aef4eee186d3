package io.rdmashuffle.transport.device;

import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/** Tells the IPv4 addresses of a network interface. */
@FunctionalInterface
public interface NetdevAddresses {
  /** Empty if it has none, or is not in this network namespace. */
  List<Inet4Address> of(String netdev);

  /** Asks the host. */
  static NetdevAddresses system() {
    return netdev -> {
      try {
        NetworkInterface found = NetworkInterface.getByName(netdev);
        return found == null
            ? List.of()
            : found
                .inetAddresses()
                .filter(Inet4Address.class::isInstance)
                .map(Inet4Address.class::cast)
                .toList();
      } catch (SocketException e) {
        return List.of();
      }
    };
  }
}
