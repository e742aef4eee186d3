package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.Kryo;
import com.esotericsoftware.kryo.kryo5.KryoException;
import com.esotericsoftware.kryo.kryo5.Registration;
import com.esotericsoftware.kryo.kryo5.Serializer;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * Turns messages into frames and back.
 *
 * <p>A frame is a magic byte, a version byte, a type byte, four bytes of request id
 * (little-endian), and the body that the type's Kryo serializer writes. Types are looked up in a
 * fixed table before Kryo sees anything: no class name from the network is ever resolved. Counts
 * are compared with their limits and with the bytes that are left before anything is allocated for
 * them.
 *
 * <p><b>Threads:</b> one at a time; buffers are reused. Nothing to close.
 *
 * <p><b>Errors:</b> whatever is wrong with a frame is a {@link WireException} that names it. A
 * message that breaks {@link WireLimits} is refused on the sending side with {@link
 * IllegalArgumentException}, before a byte reaches the frame.
 */
public final class WireCodec {
  private static final byte MAGIC = (byte) 0xD5;

  private final Kryo kryo = new Kryo();
  private final Output output = new Output(WireLimits.FRAME_BYTES, WireLimits.FRAME_BYTES);
  private final byte[] received = new byte[WireLimits.FRAME_BYTES];
  private final Input input = new Input(received);
  private int requestId;

  public WireCodec() {
    kryo.setRegistrationRequired(true);
    kryo.setReferences(false);
    MessageTypes.register(kryo);
  }

  /**
   * Writes one frame at the buffer's position.
   *
   * @return bytes written
   */
  public int encode(int id, Request request, ByteBuffer frame) {
    return write(id, request, frame);
  }

  /**
   * Writes one frame at the buffer's position.
   *
   * @return bytes written
   */
  public int encode(int id, Reply reply, ByteBuffer frame) {
    return write(id, reply, frame);
  }

  /** Reads one frame, all that remains in the buffer. Its id is in {@link #requestId}. */
  public Request decodeRequest(ByteBuffer frame) throws WireException {
    return read(frame, Request.class);
  }

  /** Reads one frame, all that remains in the buffer. Its id is in {@link #requestId}. */
  public Reply decodeReply(ByteBuffer frame) throws WireException {
    return read(frame, Reply.class);
  }

  /** The request id of the frame decoded last. */
  public int requestId() {
    return requestId;
  }

  private int write(int id, Object message, ByteBuffer frame) {
    Registration type = kryo.getRegistration(message.getClass());
    output.reset();
    output.writeByte(MAGIC);
    output.writeByte(WireLimits.VERSION);
    output.writeByte(type.getId());
    output.writeInt(id);
    try {
      kryo.writeObject(output, message, type.getSerializer());
    } catch (KryoException e) {
      throw new IllegalArgumentException(
          message.getClass().getSimpleName() + " breaks the limits of a frame: " + e.getMessage(),
          e);
    }
    frame.put(output.getBuffer(), 0, output.position());
    return output.position();
  }

  private <T> T read(ByteBuffer frame, Class<T> direction) throws WireException {
    int frameBytes = frame.remaining();
    if (frameBytes < WireLimits.HEADER_BYTES || frameBytes > WireLimits.FRAME_BYTES) {
      throw new WireException(
          "frame of "
              + frameBytes
              + " bytes, allowed are "
              + WireLimits.HEADER_BYTES
              + " to "
              + WireLimits.FRAME_BYTES);
    }
    frame.get(received, 0, frameBytes);
    input.setBuffer(received, 0, frameBytes);
    Registration type = readHeader(direction);
    Object message = readBody(type);
    if (input.position() != frameBytes) {
      throw new WireException(
          (frameBytes - input.position())
              + " trailing bytes in a frame of "
              + type.getType().getSimpleName());
    }
    return direction.cast(message);
  }

  private Registration readHeader(Class<?> direction) throws WireException {
    byte magic = input.readByte();
    if (magic != MAGIC) {
      throw new WireException(
          "frame starts with 0x"
              + Integer.toHexString(magic & 0xff)
              + " instead of 0x"
              + Integer.toHexString(MAGIC & 0xff));
    }
    int version = input.readByteUnsigned();
    if (version != WireLimits.VERSION) {
      throw new WireException(
          "frame of protocol version " + version + ", this side speaks " + WireLimits.VERSION);
    }
    int number = input.readByteUnsigned();
    requestId = input.readInt();
    Registration type = kryo.getRegistration(number);
    if (type == null || !direction.isAssignableFrom(type.getType())) {
      throw new WireException(
          "type " + number + " is no " + direction.getSimpleName().toLowerCase(Locale.ROOT));
    }
    return type;
  }

  @SuppressWarnings("unchecked")
  private Object readBody(Registration type) throws WireException {
    try {
      return kryo.readObject(
          input, (Class<Object>) type.getType(), (Serializer<Object>) type.getSerializer());
    } catch (RuntimeException e) { // Kryo's, or that of a message's own checks
      throw new WireException(
          "malformed " + type.getType().getSimpleName() + ": " + e.getMessage(), e);
    }
  }
}
