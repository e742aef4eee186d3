package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.KryoException;
import io.rdmashuffle.transport.FallbackReason;

/**
 * Numbers of the fallback reasons. Not the enum's order, so that nobody changes the protocol by
 * sorting it; numbers are never used again.
 */
final class ReasonCodes {
  private static final FallbackReason[] BY_CODE = new FallbackReason[32];

  static {
    for (FallbackReason reason : FallbackReason.values()) {
      BY_CODE[codeOf(reason)] = reason;
    }
  }

  private ReasonCodes() {}

  static int codeOf(FallbackReason reason) {
    return switch (reason) {
      case NO_DEVICE -> 1;
      case PEER_WITHOUT_RDMA -> 2;
      case DISCOVERY_FAILED -> 3;
      case CONNECT_FAILED -> 4;
      case BREAKER_OPEN -> 5;
      case CONNECTION_CAP -> 6;
      case NO_MEMORY -> 7;
      case OVERLOADED -> 8;
      case TOO_LARGE -> 9;
      case TO_DISK -> 10;
      case UNKNOWN_BLOCK -> 11;
      case FILE_CHANGED -> 12;
      case OWNER_NO_MEMORY -> 13;
      case TRANSFER_FAILED -> 14;
      case CORRUPT_RETRY -> 15;
      case NOT_SUPPORTED -> 16;
      case ENCRYPTION -> 17;
      case STOPPING -> 18;
      case READ_REFUSED -> 19;
    };
  }

  static FallbackReason reasonOf(int code) {
    FallbackReason reason = code < BY_CODE.length ? BY_CODE[code] : null;
    if (reason == null) {
      throw new KryoException("reason " + code + " is unknown");
    }
    return reason;
  }
}
