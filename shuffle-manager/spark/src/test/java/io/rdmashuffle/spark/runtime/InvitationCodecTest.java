package io.rdmashuffle.spark.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class InvitationCodecTest {
  private static final Invitation.Ticket TICKET =
      new Invitation.Ticket(
          List.of(
              new InetSocketAddress("10.1.2.3", 18515), new InetSocketAddress("fe80::1", 65535)),
          0x0123456789ABCDEFL,
          new byte[] {1, 2, 3, 4});

  private static Invitation decode(byte[] bytes) throws IOException {
    return InvitationCodec.decode(ByteBuffer.wrap(bytes));
  }

  @Test
  void ticketComesBackAsItWas() throws IOException {
    Invitation.Ticket back = (Invitation.Ticket) decode(InvitationCodec.encode(TICKET));
    assertThat(back.addresses()).isEqualTo(TICKET.addresses());
    assertThat(back.credentialId()).isEqualTo(TICKET.credentialId());
    assertThat(back.secret()).isEqualTo(TICKET.secret());
  }

  @Test
  void refusalComesBackAsItWas() throws IOException {
    Invitation none = new Invitation.None(FallbackReason.NO_DEVICE, "no adapter – load mlx5_ib");
    assertThat(decode(InvitationCodec.encode(none))).isEqualTo(none);
  }

  @Test
  void notYetComesBackAndIsARefusalToThoseWhoDoNotKnowIt() throws IOException {
    Invitation notYet = new Invitation.NotYet("still opening");
    byte[] bytes = InvitationCodec.encode(notYet);
    assertThat(decode(bytes)).isEqualTo(notYet);
    assertThat(bytes[5]).isEqualTo((byte) 2);
    bytes[5] = 3; // as a kind that is not known here
    assertThat(decode(bytes))
        .isEqualTo(new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, "still opening"));
  }

  @Test
  void bytesOnTheWireArePinned() {
    assertThat(HexFormat.of().formatHex(InvitationCodec.encode(TICKET)))
        .isEqualTo(
            "52444d53"
                + "02"
                + "01"
                + "0123456789abcdef"
                + "04"
                + "01020304"
                + "02"
                + "04"
                + "0a010203"
                + "4853"
                + "10"
                + "fe800000000000000000000000000001"
                + "ffff");
    assertThat(
            HexFormat.of()
                .formatHex(
                    InvitationCodec.encode(new Invitation.None(FallbackReason.NO_DEVICE, "why"))))
        .isEqualTo("52444d53" + "02" + "00" + "09" + "6e6f2d646576696365" + "0003" + "776879");
  }

  @Test
  void overlongTextIsCut() throws IOException {
    Invitation none = new Invitation.None(FallbackReason.NO_DEVICE, "x".repeat(5000));
    assertThat(((Invitation.None) decode(InvitationCodec.encode(none))).text()).hasSize(512);
  }

  @Test
  void anotherVersionIsAPeerWithoutRdma() throws IOException {
    byte[] bytes = InvitationCodec.encode(TICKET);
    bytes[4] = 9;
    assertThat(decode(bytes))
        .isEqualTo(
            new Invitation.None(
                FallbackReason.PEER_WITHOUT_RDMA, "it speaks version 9, this process 2"));
  }

  @Test
  void reasonThatThisVersionDoesNotKnowIsAPeerWithoutRdma() throws IOException {
    byte[] bytes = InvitationCodec.encode(new Invitation.None(FallbackReason.NO_DEVICE, "why"));
    bytes[7] = 'z';
    assertThat(((Invitation.None) decode(bytes)).reason())
        .isEqualTo(FallbackReason.PEER_WITHOUT_RDMA);
  }

  @Test
  void everyCutIsRefused() {
    byte[] bytes = InvitationCodec.encode(TICKET);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> decode(cut)).as("cut to " + length).isInstanceOf(IOException.class);
    }
  }

  @Test
  void trailingBytesAndForeignAnswersAreRefused() {
    byte[] longer = Arrays.copyOf(InvitationCodec.encode(TICKET), 200);
    assertThatThrownBy(() -> decode(longer)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> decode(new byte[4096])).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> decode("<html>".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aTicketWithoutSecretIsRefusedOnBothSides() {
    byte[] bytes = InvitationCodec.encode(TICKET);
    ByteBuffer empty = ByteBuffer.allocate(bytes.length - TICKET.secret().length);
    empty.put(bytes, 0, 14).put((byte) 0).put(bytes, 19, bytes.length - 19);
    assertThatThrownBy(() -> decode(empty.array()))
        .isInstanceOf(IOException.class)
        .hasMessage("invitation with a secret of 0 bytes and 2 addresses");
    Invitation.Ticket ticket = new Invitation.Ticket(TICKET.addresses(), 1, new byte[0]);
    assertThatThrownBy(() -> InvitationCodec.encode(ticket))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Cut, lengthened, overwritten, spliced: whatever is accepted can be dialled and encoded. */
  @Test
  void whateverArrivesIsRefusedOrCanBeUsed() throws IOException {
    long seed = Long.getLong("rdmashuffle.test.seed", 20261129);
    Random random = new Random(seed);
    List<byte[]> valid =
        List.of(
            InvitationCodec.encode(TICKET),
            InvitationCodec.encode(new Invitation.None(FallbackReason.NO_DEVICE, "no adapter")),
            InvitationCodec.encode(new Invitation.NotYet("still opening")));
    int accepted = 0;
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = mutated(valid.get(random.nextInt(valid.size())), random);
      Invitation invitation;
      try {
        invitation = decode(bytes);
      } catch (IOException expected) {
        assertThat(expected.getMessage()).as("seed %d, round %d", seed, round).isNotBlank();
        continue;
      }
      accepted++;
      if (invitation instanceof Invitation.Ticket ticket) {
        assertThat(ticket.secret()).as("seed %d, round %d", seed, round).isNotEmpty();
        assertThat(ticket.addresses()).as("seed %d, round %d", seed, round).isNotEmpty();
        assertThat(InvitationCodec.encode(ticket)).isEqualTo(bytes);
      }
      assertThat(decode(InvitationCodec.encode(invitation))).hasSameClassAs(invitation);
    }
    assertThat(accepted).as("seed %d", seed).isBetween(2_000, 18_000);
  }

  private static byte[] mutated(byte[] valid, Random random) {
    byte[] bytes = valid.clone();
    if (random.nextInt(3) == 0) {
      bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 8));
    }
    for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
      byte one = (byte) (random.nextBoolean() ? random.nextInt(6) : random.nextInt());
      bytes[random.nextInt(bytes.length)] = one;
    }
    if (bytes.length > 15 && random.nextInt(4) == 0) { // a field made shorter or longer
      int at = 6 + random.nextInt(bytes.length - 6);
      byte[] tail = Arrays.copyOfRange(bytes, random.nextInt(bytes.length), bytes.length);
      bytes = Arrays.copyOf(bytes, at + tail.length);
      System.arraycopy(tail, 0, bytes, at, tail.length);
    }
    return bytes;
  }

  @Test
  void ticketBeyondTheFormatIsNotEncoded() {
    Invitation.Ticket large =
        new Invitation.Ticket(
            Collections.nCopies(9, new InetSocketAddress("10.1.2.3", 1)), 1, new byte[16]);
    assertThatThrownBy(() -> InvitationCodec.encode(large))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
