package io.rdmashuffle.transport.verbs.disni.impl;

/** Where native code leaves a connection event: struct rdma_event of rdma_channel.h. One thread. */
final class EventBuffer {
  private static final int ID_AT = 8;
  private static final int STATUS_AT = 20;
  private static final int LENGTH_AT = 24;
  private static final int DATA_AT = 28;
  private static final int DATA_BYTES = 256;
  private final NativeBuffer event = NativeBuffer.allocate(DATA_AT + DATA_BYTES + 4);

  long pointer() {
    return event.address();
  }

  /** The handle of the id it concerns. */
  long id() {
    return event.bytes().getLong(ID_AT);
  }

  int status() {
    return event.bytes().getInt(STATUS_AT);
  }

  byte[] privateData() {
    byte[] data = new byte[event.bytes().getInt(LENGTH_AT)];
    event.bytes().get(DATA_AT, data);
    return data;
  }
}
