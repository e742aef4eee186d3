package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.KryoException;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;

/**
 * Bounded building blocks of the message bodies. Both directions check the same limits; a breach is
 * a {@link KryoException} that {@link WireCodec} translates.
 */
final class Fields {
  private Fields() {}

  /**
   * @param elementBytes the least that one element takes, so that a lying count is found out before
   *     room is made for it
   */
  static int readCount(Input in, String what, int limit, int elementBytes) {
    int count = in.readVarInt(true);
    checkRange(what, count, 0, limit);
    int left = in.limit() - in.position();
    if (count > left / elementBytes) {
      throw new KryoException(count + " " + what + " in " + left + " bytes");
    }
    return count;
  }

  static void writeCount(Output out, String what, int limit, int count) {
    checkRange(what, count, 0, limit);
    out.writeVarInt(count, true);
  }

  static void checkRange(String what, long value, long minimum, long maximum) {
    if (value < minimum || value > maximum) {
      throw new KryoException(what + ": " + value + " is outside " + minimum + " to " + maximum);
    }
  }

  /** A byte string whose length both sides know. */
  static void writeFixed(Output out, String what, int length, byte[] bytes) {
    checkRange(what + " bytes", bytes.length, length, length);
    out.writeBytes(bytes);
  }

  static byte[] readFixed(Input in, int length) {
    if (length > in.limit() - in.position()) {
      throw new KryoException(length + " bytes asked, " + (in.limit() - in.position()) + " left");
    }
    return in.readBytes(length);
  }

  /** Lease numbers, each as the difference to the one before. */
  static void writeLeases(Output out, long[] leases) {
    writeCount(out, "leases", WireLimits.RELEASES_PER_FRAME, leases.length);
    long previous = 0;
    for (long lease : leases) {
      checkRange("lease", lease, 1, Long.MAX_VALUE);
      out.writeVarLong(lease - previous, false);
      previous = lease;
    }
  }

  static long[] readLeases(Input in) {
    long[] leases = new long[readCount(in, "leases", WireLimits.RELEASES_PER_FRAME, 1)];
    long previous = 0;
    for (int i = 0; i < leases.length; i++) {
      previous += in.readVarLong(false);
      checkRange("lease", previous, 1, Long.MAX_VALUE);
      leases[i] = previous;
    }
    return leases;
  }
}
