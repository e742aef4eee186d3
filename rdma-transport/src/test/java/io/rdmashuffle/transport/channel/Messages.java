package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireCodec;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Messages for the tests of this package. */
final class Messages {
  private Messages() {}

  static Request.Locate locate(int keys) {
    List<BlockKey> list = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      list.add(new BlockKey(1, i, 7, 8));
    }
    return new Request.Locate(list, new long[0]);
  }

  static byte[] frame(int requestId, Request request) {
    ByteBuffer frame = ByteBuffer.allocate(WireLimits.FRAME_BYTES);
    byte[] bytes = new byte[new WireCodec().encode(requestId, request, frame)];
    frame.flip().get(bytes);
    return bytes;
  }

  static byte[] nonce(long number) {
    return ByteBuffer.allocate(WireLimits.NONCE_BYTES).putLong(number).array();
  }
}
