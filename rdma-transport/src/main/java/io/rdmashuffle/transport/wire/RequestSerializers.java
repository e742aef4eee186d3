package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.Kryo;
import com.esotericsoftware.kryo.kryo5.KryoException;
import com.esotericsoftware.kryo.kryo5.Serializer;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import io.rdmashuffle.transport.wire.Request.Hello;
import io.rdmashuffle.transport.wire.Request.Locate;
import io.rdmashuffle.transport.wire.Request.Prove;
import io.rdmashuffle.transport.wire.Request.Release;
import java.util.ArrayList;
import java.util.List;

/** Bodies of the requests. */
final class RequestSerializers {
  private RequestSerializers() {}

  static final class OfHello extends Serializer<Hello> {
    @Override
    public void write(Kryo kryo, Output out, Hello hello) {
      Fields.checkRange("version", hello.version(), 0, 255);
      out.writeByte(hello.version());
      Fields.writeFixed(out, "nonce", WireLimits.NONCE_BYTES, hello.readerNonce());
    }

    @Override
    public Hello read(Kryo kryo, Input in, Class<? extends Hello> type) {
      return new Hello(in.readByteUnsigned(), Fields.readFixed(in, WireLimits.NONCE_BYTES));
    }
  }

  static final class OfProve extends Serializer<Prove> {
    @Override
    public void write(Kryo kryo, Output out, Prove prove) {
      Fields.writeFixed(out, "mac", WireLimits.MAC_BYTES, prove.mac());
    }

    @Override
    public Prove read(Kryo kryo, Input in, Class<? extends Prove> type) {
      return new Prove(Fields.readFixed(in, WireLimits.MAC_BYTES));
    }
  }

  static final class OfRelease extends Serializer<Release> {
    @Override
    public void write(Kryo kryo, Output out, Release release) {
      Fields.writeLeases(out, release.leases());
    }

    @Override
    public Release read(Kryo kryo, Input in, Class<? extends Release> type) {
      return new Release(Fields.readLeases(in));
    }
  }

  /**
   * Keys of one fetch have much in common: each carries only what differs from the one before, and
   * a byte that says what does. At its longest a key takes 25 bytes.
   */
  static final class OfLocate extends Serializer<Locate> {
    private static final int SAME_GROUP = 1;
    private static final int SAME_FIRST = 2;
    private static final int ONE_PARTITION = 4;
    private static final int ALL_FLAGS = SAME_GROUP | SAME_FIRST | ONE_PARTITION;
    private static final int KEY_BYTES = 2; // at its shortest

    @Override
    public void write(Kryo kryo, Output out, Locate locate) {
      List<BlockKey> keys = locate.keys();
      Fields.checkRange("keys", keys.size(), 1, WireLimits.KEYS_PER_LOCATE);
      out.writeVarInt(keys.size(), true);
      int group = 0;
      long output = 0;
      int first = 0;
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        int partitions = key.endPartition() - key.firstPartition();
        int flags =
            (key.group() == group ? SAME_GROUP : 0)
                | (key.firstPartition() == first ? SAME_FIRST : 0)
                | (partitions == 1 ? ONE_PARTITION : 0);
        out.writeByte(flags);
        if (key.group() != group) {
          out.writeVarInt(key.group(), true);
        }
        out.writeVarLong(key.output() - output, false);
        if (key.firstPartition() != first) {
          out.writeVarInt(key.firstPartition(), true);
        }
        if (partitions != 1) {
          out.writeVarInt(partitions, true);
        }
        group = key.group();
        output = key.output();
        first = key.firstPartition();
      }
      Fields.writeLeases(out, locate.releases());
    }

    @Override
    public Locate read(Kryo kryo, Input in, Class<? extends Locate> type) {
      int count = Fields.readCount(in, "keys", WireLimits.KEYS_PER_LOCATE, KEY_BYTES);
      Fields.checkRange("keys", count, 1, WireLimits.KEYS_PER_LOCATE);
      List<BlockKey> keys = new ArrayList<>(count);
      int group = 0;
      long output = 0;
      int first = 0;
      for (int i = 0; i < count; i++) {
        int flags = in.readByteUnsigned();
        if ((flags & ~ALL_FLAGS) != 0) {
          throw new KryoException("key flags 0x" + Integer.toHexString(flags));
        }
        group = (flags & SAME_GROUP) != 0 ? group : in.readVarInt(true);
        output += in.readVarLong(false);
        first = (flags & SAME_FIRST) != 0 ? first : in.readVarInt(true);
        int partitions = (flags & ONE_PARTITION) != 0 ? 1 : in.readVarInt(true);
        keys.add(new BlockKey(group, output, first, first + partitions));
      }
      return new Locate(keys, Fields.readLeases(in));
    }
  }
}
