package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;

/** What a reason for falling back says about what else may come by RDMA. */
final class Reasons {
  private Reasons() {}

  /** Whether nothing else of the host is worth asking for now. */
  static boolean concernsHost(FallbackReason reason) {
    return switch (reason) {
      case NO_MEMORY,
          OVERLOADED,
          TOO_LARGE,
          TO_DISK,
          UNKNOWN_BLOCK,
          FILE_CHANGED,
          OWNER_NO_MEMORY,
          READ_REFUSED,
          CORRUPT_RETRY,
          NOT_SUPPORTED ->
          false;
      case NO_DEVICE,
          PEER_WITHOUT_RDMA,
          DISCOVERY_FAILED,
          CONNECT_FAILED,
          BREAKER_OPEN,
          CONNECTION_CAP,
          TRANSFER_FAILED,
          ENCRYPTION,
          STOPPING ->
          true;
    };
  }

  /** Whether asking for the same segment again later may succeed. */
  static boolean passes(FallbackReason reason) {
    return switch (reason) {
      case NO_MEMORY, OVERLOADED, OWNER_NO_MEMORY, READ_REFUSED -> true;
      default -> concernsHost(reason);
    };
  }
}
