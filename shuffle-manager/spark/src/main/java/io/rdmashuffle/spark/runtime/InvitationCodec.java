package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.wire.WireLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a peer answers when it is asked how to reach it by RDMA, as bytes:
 *
 * <pre>
 * magic     4  "RDMS"
 * version   1  WireLimits.VERSION of the peer
 * kind      1  0: no RDMA, 1: ticket, 2: not yet
 *   no RDMA:  reason (1 + n, its label), text (2 + n)
 *   not yet:  the same, so that a reader which knows only the first two takes it for "no RDMA"
 *   ticket:   credential id 8, secret (1 + n), count of addresses 1, each: address (1 + 4 or 16), port 2
 * </pre>
 *
 * Big-endian; lengths precede what they count; nothing follows. Stateless.
 */
public final class InvitationCodec {
  /** Longest encoding; a longer answer is not ours. */
  public static final int MOST_BYTES = 1024;

  private static final int MAGIC = 0x52444D53;
  private static final byte NONE = 0;
  private static final byte TICKET = 1;
  private static final byte NOT_YET = 2;
  private static final int MOST_ADDRESSES = 8;
  private static final int MOST_SECRET_BYTES = 64;

  private InvitationCodec() {}

  /**
   * @throws IllegalArgumentException if the ticket has more addresses or a longer secret than the
   *     format allows, or none
   */
  public static byte[] encode(Invitation invitation) {
    ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
    out.putInt(MAGIC).put((byte) WireLimits.VERSION);
    if (invitation instanceof Invitation.Ticket ticket) {
      encode(ticket, out);
    } else if (invitation instanceof Invitation.None none) {
      out.put(NONE);
      encode(none, out);
    } else if (invitation instanceof Invitation.NotYet notYet) {
      out.put(NOT_YET);
      encode(new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, notYet.text()), out);
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  private static void encode(Invitation.Ticket ticket, ByteBuffer out) {
    if (isOutside(ticket.secret().length, MOST_SECRET_BYTES)
        || isOutside(ticket.addresses().size(), MOST_ADDRESSES)) {
      throw new IllegalArgumentException(
          ticket.addresses().size() + " addresses, secret of " + ticket.secret().length + " bytes");
    }
    out.put(TICKET).putLong(ticket.credentialId());
    out.put((byte) ticket.secret().length).put(ticket.secret());
    out.put((byte) ticket.addresses().size());
    for (InetSocketAddress address : ticket.addresses()) {
      byte[] raw = address.getAddress().getAddress();
      out.put((byte) raw.length).put(raw).putShort((short) address.getPort());
    }
  }

  private static void encode(Invitation.None none, ByteBuffer out) {
    byte[] label = none.reason().label().getBytes(StandardCharsets.US_ASCII);
    byte[] text = none.text().getBytes(StandardCharsets.UTF_8);
    int textBytes = Math.min(text.length, WireLimits.TEXT_BYTES);
    out.put((byte) label.length).put(label);
    out.putShort((short) textBytes).put(text, 0, textBytes);
  }

  /**
   * Reads a peer's answer. One of another version is {@link Invitation.None}: it cannot be talked
   * to.
   *
   * @throws IOException if the bytes are no such answer, or break its bounds
   */
  public static Invitation decode(ByteBuffer in) throws IOException {
    int bytes = in.remaining();
    try {
      if (bytes > MOST_BYTES || in.getInt() != MAGIC) {
        throw new IOException("answer of " + bytes + " bytes is no invitation");
      }
      int version = in.get();
      if (version != WireLimits.VERSION) {
        return new Invitation.None(
            FallbackReason.PEER_WITHOUT_RDMA,
            "it speaks version " + version + ", this process " + WireLimits.VERSION);
      }
      Invitation invitation =
          switch (in.get()) {
            case TICKET -> decodeTicket(in);
            case NOT_YET -> new Invitation.NotYet(decodeNone(in).text());
            default -> decodeNone(in);
          };
      if (in.hasRemaining()) {
        throw new IOException("invitation with " + in.remaining() + " bytes too many");
      }
      return invitation;
    } catch (BufferUnderflowException e) {
      throw new IOException("invitation cut off after " + bytes + " bytes", e);
    }
  }

  private static Invitation decodeTicket(ByteBuffer in) throws IOException {
    long credentialId = in.getLong();
    byte[] secret = bytes(in, in.get(), MOST_SECRET_BYTES);
    int count = in.get();
    if (isOutside(secret.length, MOST_SECRET_BYTES) || isOutside(count, MOST_ADDRESSES)) {
      throw new IOException(
          "invitation with a secret of " + secret.length + " bytes and " + count + " addresses");
    }
    List<InetSocketAddress> addresses = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      // An address of a length other than 4 or 16 is an UnknownHostException, which is an
      // IOException.
      InetAddress address = InetAddress.getByAddress(bytes(in, in.get(), 16));
      addresses.add(new InetSocketAddress(address, Short.toUnsignedInt(in.getShort())));
    }
    return new Invitation.Ticket(List.copyOf(addresses), credentialId, secret);
  }

  private static Invitation.None decodeNone(ByteBuffer in) throws IOException {
    String label = new String(bytes(in, in.get(), 64), StandardCharsets.US_ASCII);
    String text =
        new String(bytes(in, in.getShort(), WireLimits.TEXT_BYTES), StandardCharsets.UTF_8);
    FallbackReason reason =
        Arrays.stream(FallbackReason.values())
            .filter(r -> r.label().equals(label))
            .findFirst()
            .orElse(FallbackReason.PEER_WITHOUT_RDMA);
    return new Invitation.None(reason, text);
  }

  /** At least one is needed of what a ticket has several of. */
  private static boolean isOutside(int count, int most) {
    return count < 1 || count > most;
  }

  private static byte[] bytes(ByteBuffer in, int length, int most) throws IOException {
    if (length < 0 || length > most) {
      throw new IOException("invitation with a field of " + length + " bytes, at most " + most);
    }
    byte[] field = new byte[length];
    in.get(field);
    return field;
  }
}
