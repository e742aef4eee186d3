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
  void noBytesMakeItThrowAnythingElse() {
    long seed = 20261129;
    Random random = new Random(seed);
    byte[] valid = InvitationCodec.encode(TICKET);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = valid.clone();
      for (int flips = random.nextInt(4) + 1; flips > 0; flips--) {
        bytes[5 + random.nextInt(bytes.length - 5)] = (byte) random.nextInt();
      }
      try {
        decode(bytes);
      } catch (IOException expected) {
        assertThat(expected.getMessage()).as("seed " + seed).isNotBlank();
      }
    }
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
