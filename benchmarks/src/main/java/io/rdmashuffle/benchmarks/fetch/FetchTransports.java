package io.rdmashuffle.benchmarks.fetch;

/** The transports by the names used on command lines and in reports. */
final class FetchTransports {
  static final String RDMA = "rdma";
  static final String NETTY_AUTO = "netty-auto";
  static final String NETTY_NIO = "netty-nio";

  private FetchTransports() {}

  static FetchTransport.Owner owner(String name, Layout layout) throws Exception {
    return switch (name) {
      case RDMA -> RdmaFetch.owner(layout);
      case NETTY_AUTO -> NettyFetch.owner(layout, "AUTO");
      case NETTY_NIO -> NettyFetch.owner(layout, "NIO");
      default -> throw new IllegalArgumentException("unknown transport " + name);
    };
  }

  static FetchTransport reader(String name, Layout layout, String endpoint) throws Exception {
    return switch (name) {
      case RDMA -> RdmaFetch.reader(layout, endpoint);
      case NETTY_AUTO -> NettyFetch.reader(layout, "AUTO", endpoint);
      case NETTY_NIO -> NettyFetch.reader(layout, "NIO", endpoint);
      default -> throw new IllegalArgumentException("unknown transport " + name);
    };
  }
}
