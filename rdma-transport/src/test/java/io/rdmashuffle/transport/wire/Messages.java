package io.rdmashuffle.transport.wire;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.wire.Reply.Granted;
import io.rdmashuffle.transport.wire.Reply.Inline;
import io.rdmashuffle.transport.wire.Reply.Located;
import io.rdmashuffle.transport.wire.Reply.NotByRdma;
import io.rdmashuffle.transport.wire.Reply.Piece;
import io.rdmashuffle.transport.wire.Request.Locate;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Messages and frames for the tests of this package. */
final class Messages {
  private Messages() {}

  static byte[] bytes(int length, int first) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (first + i);
    }
    return bytes;
  }

  static ByteBuffer frame() {
    return ByteBuffer.allocate(WireLimits.FRAME_BYTES);
  }

  static ByteBuffer encode(int id, Object message) {
    ByteBuffer frame = frame();
    WireCodec codec = new WireCodec();
    if (message instanceof Request request) {
      codec.encode(id, request, frame);
    } else {
      codec.encode(id, (Reply) message, frame);
    }
    return frame.flip();
  }

  static Object decode(Object like, ByteBuffer frame) throws WireException {
    WireCodec codec = new WireCodec();
    return like instanceof Request ? codec.decodeRequest(frame) : codec.decodeReply(frame);
  }

  /** 256 blocks of one shuffle and one partition: what a reduce task asks for. */
  static Locate typicalLocate() {
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < WireLimits.KEYS_PER_LOCATE; i++) {
      keys.add(new BlockKey(12, 40_000 + 7 * i, 150, 151));
    }
    return new Locate(keys, new long[] {9_000_001, 9_000_002});
  }

  /** Every number as long as it can be, every list full. */
  static Locate longestLocate() {
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < WireLimits.KEYS_PER_LOCATE; i++) {
      keys.add(
          i % 2 == 0
              ? new BlockKey(Integer.MAX_VALUE, Long.MAX_VALUE, 1 << 30, Integer.MAX_VALUE)
              : new BlockKey(Integer.MAX_VALUE - 1, 0, (1 << 30) - 1, Integer.MAX_VALUE));
    }
    return new Locate(keys, longestLeases());
  }

  static long[] longestLeases() {
    long[] leases = new long[WireLimits.RELEASES_PER_FRAME];
    for (int i = 0; i < leases.length; i++) {
      leases[i] = i % 2 == 0 ? Long.MAX_VALUE : 1;
    }
    return leases;
  }

  static Granted granted(int pieces, Random random) {
    List<Piece> list = new ArrayList<>();
    for (int i = 0; i < pieces; i++) {
      list.add(
          new Piece(random.nextLong(), random.nextInt(), 1 + random.nextInt(Integer.MAX_VALUE)));
    }
    return new Granted(attribute(random), random.nextBoolean(), list);
  }

  /** Of any length. */
  private static long attribute(Random random) {
    return random.nextLong() >>> random.nextInt(64);
  }

  static Located located(Random random) {
    List<Reply.Answer> answers = new ArrayList<>();
    int room = WireSizes.ANSWERS_BYTES;
    while (answers.size() < WireLimits.KEYS_PER_LOCATE) {
      Reply.Answer answer =
          switch (random.nextInt(4)) {
            case 0 -> granted(1 + random.nextInt(WireLimits.PIECES_PER_BLOCK), random);
            case 1 -> granted(1, random);
            case 2 -> new Inline(attribute(random), bytes(random.nextInt(600), random.nextInt()));
            default -> new NotByRdma(FallbackReason.values()[random.nextInt(18)]);
          };
      room -= WireSizes.atMostBytes(answer);
      if (room < 0) {
        break;
      }
      answers.add(answer);
    }
    return new Located(random.nextLong() >>> 1, answers);
  }

  /** One small message of every kind. */
  static List<Object> oneOfEach() {
    return List.of(
        new Request.Hello(1, bytes(16, 0)),
        new Request.Prove(bytes(32, 64)),
        new Locate(
            List.of(
                new BlockKey(3, 70, 5, 6), new BlockKey(3, 69, 5, 6), new BlockKey(4, 1, 0, 200)),
            new long[] {7, 300}),
        new Request.Release(new long[] {1, 2, 1_000_000}),
        new Reply.Challenge(bytes(16, 16), bytes(32, 32)),
        new Reply.Welcome(5000),
        new Located(
            5,
            List.of(
                new Granted(300, false, List.of(new Piece(0x7f00_0000_1000L, 0xcafe, 4096))),
                new Granted(
                    0,
                    true,
                    List.of(
                        new Piece(0x7f00_0000_2000L, 0xcafe, 10), new Piece(0x1000, -1, 1 << 30))),
                new Inline(1L << 40, new byte[] {1, 2, 3}),
                new Inline(-1, new byte[0]),
                new NotByRdma(FallbackReason.UNKNOWN_BLOCK))),
        new Reply.Released(),
        new Reply.Refused("wrong måc"));
  }
}
