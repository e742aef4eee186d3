package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.verbs.AsyncEvent.Type;

/** Groups enum ibv_event_type (infiniband/verbs.h). */
final class AsyncEvents {
  private AsyncEvents() {}

  static Type type(int code) {
    return switch (code) {
      case 0 -> Type.CQ_ERROR;
      case 1, 2, 3 -> Type.QP_ERROR; // fatal, invalid request, access error
      case 8 -> Type.DEVICE_FATAL;
      case 9 -> Type.PORT_ACTIVE;
      case 10 -> Type.PORT_DOWN;
      default -> Type.OTHER;
    };
  }
}
