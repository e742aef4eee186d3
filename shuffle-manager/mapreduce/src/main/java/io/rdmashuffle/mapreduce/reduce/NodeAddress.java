package io.rdmashuffle.mapreduce.reduce;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Where a NodeManager serves map outputs by HTTP, as the base URL of its completion events says.
 *
 * @param host a name or a literal address, without brackets
 * @param httpPort of its shuffle service
 */
record NodeAddress(String host, int httpPort) {
  /**
   * @throws IllegalArgumentException if the URL names no host or port
   */
  static NodeAddress of(String baseUrl) {
    URI url = URI.create(baseUrl);
    String host = url.getHost();
    if (host == null || url.getPort() < 0) {
      throw new IllegalArgumentException("no host and port in the map output URL " + baseUrl);
    }
    boolean literal6 = host.startsWith("[") && host.endsWith("]");
    return new NodeAddress(literal6 ? host.substring(1, host.length() - 1) : host, url.getPort());
  }

  /**
   * Where it listens for RDMA. Asks the resolver, as fetching by HTTP does.
   *
   * @return IPv4 addresses, perhaps none
   * @throws UnknownHostException if the name has no address at all
   */
  List<InetSocketAddress> rdmaAddresses(int rdmaPort) throws UnknownHostException {
    return Arrays.stream(InetAddress.getAllByName(host))
        .filter(Inet4Address.class::isInstance)
        .map(address -> new InetSocketAddress(address, rdmaPort))
        .toList();
  }

  @Override
  public String toString() {
    return host + ":" + httpPort;
  }
}
