package io.rdmashuffle.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.wire.Reply.Granted;
import io.rdmashuffle.transport.wire.Reply.Inline;
import io.rdmashuffle.transport.wire.Reply.Located;
import io.rdmashuffle.transport.wire.Reply.NotByRdma;
import io.rdmashuffle.transport.wire.Reply.Piece;
import io.rdmashuffle.transport.wire.Request.Locate;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class WireCodecTest {
  private final WireCodec codec = new WireCodec();

  /** The protocol, byte for byte. A change here needs a new {@link WireLimits#VERSION}. */
  @Test
  void framesAreThoseOfVersionTwo() {
    List<String> golden =
        List.of(
            "d5021004030201" + "01" + "000102030405060708090a0b0c0d0e0f",
            "d5021104030201" + "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f",
            "d5021204030201" + "03" + "04038c0105" + "0701" + "00048701" + "00c801" + "020eca04",
            "d5021304030201" + "03" + "0202" + "fc887a",
            "d5022004030201"
                + "101112131415161718191a1b1c1d1e1f"
                + "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            "d5022104030201" + "8827",
            "d5022204030201"
                + "0505"
                + "01ac02"
                + "01"
                + "80c0808080c03f"
                + "feca0000"
                + "8020"
                + "0200"
                + "02"
                + "00"
                + "feca0000"
                + "0a"
                + "93c0808080c03f"
                + "ffffffff"
                + "8080808004"
                + "03808080808020"
                + "03010203"
                + "03ffffffffffffffffff"
                + "00"
                + "040b",
            "d5022304030201",
            "d5022404030201" + "0a" + "77726f6e67206dc3a563");
    List<String> actual = new ArrayList<>();
    for (Object message : Messages.oneOfEach()) {
      ByteBuffer frame = Messages.encode(0x01020304, message);
      actual.add(HexFormat.of().formatHex(frame.array(), 0, frame.limit()));
    }
    assertThat(actual).containsExactlyElementsOf(golden);
  }

  @Test
  void reasonsKeepTheirNumbers() throws WireException {
    List<FallbackReason> byNumber =
        List.of(
            FallbackReason.NO_DEVICE,
            FallbackReason.PEER_WITHOUT_RDMA,
            FallbackReason.DISCOVERY_FAILED,
            FallbackReason.CONNECT_FAILED,
            FallbackReason.BREAKER_OPEN,
            FallbackReason.CONNECTION_CAP,
            FallbackReason.NO_MEMORY,
            FallbackReason.OVERLOADED,
            FallbackReason.TOO_LARGE,
            FallbackReason.TO_DISK,
            FallbackReason.UNKNOWN_BLOCK,
            FallbackReason.FILE_CHANGED,
            FallbackReason.OWNER_NO_MEMORY,
            FallbackReason.TRANSFER_FAILED,
            FallbackReason.CORRUPT_RETRY,
            FallbackReason.NOT_SUPPORTED,
            FallbackReason.ENCRYPTION,
            FallbackReason.STOPPING,
            FallbackReason.READ_REFUSED);
    for (int i = 0; i < byNumber.size(); i++) {
      Located located = new Located(0, List.of(new NotByRdma(byNumber.get(i))));
      ByteBuffer frame = Messages.encode(1, located);
      assertThat(frame.get(frame.limit() - 1)).isEqualTo((byte) (i + 1));
      assertThat(codec.decodeReply(frame)).isEqualTo(located);
    }
  }

  @Test
  void everyMessageComesBackEqual() throws WireException {
    for (Object message : Messages.oneOfEach()) {
      assertThat(Messages.decode(message, Messages.encode(9, message)))
          .usingRecursiveComparison()
          .isEqualTo(message);
    }
  }

  @Test
  void randomAnswersThatFitTheirBoundComeBackEqual() throws WireException {
    Random random = new Random(20_240_601);
    for (int i = 0; i < 200; i++) {
      Located located = Messages.located(random);
      assertThat(codec.decodeReply(Messages.encode(i, located)))
          .usingRecursiveComparison()
          .isEqualTo(located);
      assertThat(codec.requestId()).isEqualTo(i);
    }
  }

  @Test
  void requestIdsComeBackWhateverTheirSign() throws WireException {
    for (int id : new int[] {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      codec.decodeReply(Messages.encode(id, new Reply.Released()));
      assertThat(codec.requestId()).isEqualTo(id);
    }
  }

  @Test
  void keysOfOneReduceTaskTakeThreeBytesEach() {
    assertThat(Messages.encode(1, Messages.typicalLocate()).limit()).isLessThan(256 * 3 + 32);
  }

  @Test
  void theLongestRequestsFitAFrame() throws WireException {
    Locate locate = Messages.longestLocate();
    assertThat(codec.decodeRequest(Messages.encode(1, locate)))
        .usingRecursiveComparison()
        .isEqualTo(locate);
    Request.Release release = new Request.Release(Messages.longestLeases());
    assertThat(codec.decodeRequest(Messages.encode(1, release)))
        .usingRecursiveComparison()
        .isEqualTo(release);
  }

  @Test
  void anySingleAnswerFitsAFrame() {
    Piece longest = new Piece(Long.MIN_VALUE, -1, Integer.MAX_VALUE);
    Piece farAway = new Piece(1L << 62, -1, Integer.MAX_VALUE);
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < WireLimits.PIECES_PER_BLOCK; i++) {
      pieces.add(i % 2 == 0 ? longest : farAway);
    }
    List<Reply.Answer> answers =
        List.of(new Granted(-1, true, pieces), new Inline(-1, new byte[WireLimits.INLINE_BYTES]));
    for (Reply.Answer answer : answers) {
      int emptyBytes = WireLimits.FRAME_BYTES - WireSizes.ANSWERS_BYTES;
      int frameBytes = Messages.encode(1, new Located(Long.MAX_VALUE, List.of(answer))).limit();
      assertThat(WireSizes.atMostBytes(answer)).isLessThanOrEqualTo(WireSizes.ANSWERS_BYTES);
      assertThat(frameBytes).isLessThanOrEqualTo(emptyBytes + WireSizes.atMostBytes(answer));
    }
  }

  @Test
  void answersToAllKeysFitIfEachIsOnePiece() {
    assertThat(WireLimits.KEYS_PER_LOCATE * WireSizes.grantedBytes(-1, 1))
        .isLessThanOrEqualTo(WireSizes.ANSWERS_BYTES);
  }

  @Test
  void messagesBeyondTheLimitsAreRefusedBeforeTheyAreSent() {
    List<Object> tooMuch =
        List.of(
            new Request.Hello(1, new byte[15]),
            new Request.Hello(256, new byte[16]),
            new Request.Prove(new byte[33]),
            new Locate(List.of(), new long[0]),
            new Locate(Collections.nCopies(257, new BlockKey(0, 0, 0, 1)), new long[0]),
            new Request.Release(new long[WireLimits.RELEASES_PER_FRAME + 1]),
            new Request.Release(new long[] {0}),
            new Reply.Welcome(0),
            new Located(-1, List.of(new Inline(0, new byte[0]))),
            new Located(1, List.of()),
            new Located(1, List.of(new Granted(0, false, List.of()))),
            new Located(1, List.of(new Granted(0, false, List.of(new Piece(1, 1, 0))))),
            new Located(1, List.of(new Inline(0, new byte[WireLimits.INLINE_BYTES + 1]))),
            new Located(1, Collections.nCopies(3, new Inline(0, new byte[4000]))));
    for (Object message : tooMuch) {
      ByteBuffer frame = Messages.frame();
      assertThatThrownBy(
              () -> {
                if (message instanceof Request request) {
                  codec.encode(1, request, frame);
                } else {
                  codec.encode(1, (Reply) message, frame);
                }
              })
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(message.getClass().getSimpleName());
      assertThat(frame.position()).isZero();
    }
  }

  @Test
  void aLongRefusalIsCut() throws WireException {
    Reply reply = codec.decodeReply(Messages.encode(1, new Reply.Refused("x".repeat(2000))));
    assertThat(reply).isEqualTo(new Reply.Refused("x".repeat(WireLimits.TEXT_BYTES)));
  }

  @Test
  void headersAreChecked() {
    assertThatThrownBy(() -> codec.decodeRequest(frame("d50213010203")))
        .hasMessageContaining("frame of 6 bytes");
    assertThatThrownBy(() -> codec.decodeRequest(ByteBuffer.allocate(8193)))
        .hasMessageContaining("frame of 8193 bytes");
    assertThatThrownBy(() -> codec.decodeRequest(frame("0001130102030400")))
        .hasMessageContaining("starts with 0x0 instead of 0xd5");
    assertThatThrownBy(() -> codec.decodeRequest(frame("d503130102030400")))
        .isInstanceOf(WireException.class)
        .hasMessageContaining("version 3, this side speaks 2")
        .extracting(e -> ((WireException) e).kind())
        .isEqualTo(Kind.BUG);
    assertThatThrownBy(() -> codec.decodeRequest(frame("d502130102030400ff")))
        .hasMessageContaining("1 trailing bytes in a frame of Release");
  }

  @Test
  void typesOfTheOtherDirectionOrOfKryoItselfAreUnknown() {
    for (int type = 0; type < 256; type++) {
      String frame = "d502" + HexFormat.of().toHexDigits((byte) type) + "01020304ffffffff0f";
      if (type < 0x10 || type > 0x13) {
        assertThatThrownBy(() -> codec.decodeRequest(frame(frame)))
            .isInstanceOf(WireException.class)
            .hasMessageContaining("is no request");
      }
      if (type < 0x20 || type > 0x24) {
        assertThatThrownBy(() -> codec.decodeReply(frame(frame)))
            .isInstanceOf(WireException.class)
            .hasMessageContaining("is no reply");
      }
    }
  }

  @Test
  void lyingCountsAreFoundOutBeforeRoomIsMade() {
    assertThatThrownBy(() -> codec.decodeRequest(frame("d5021301020304" + "ffffffff07")))
        .hasMessageContaining("leases: 2147483647 is outside 0 to 128");
    assertThatThrownBy(() -> codec.decodeRequest(frame("d5021301020304" + "8001" + "02")))
        .hasMessageContaining("128 leases in 1 bytes");
    assertThatThrownBy(() -> codec.decodeRequest(frame("d5021201020304" + "8102" + "0702")))
        .hasMessageContaining("keys: 257");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022201020304" + "01" + "8002" + "0401")))
        .hasMessageContaining("256 answers in 2 bytes");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022201020304" + "0101030080" + "20")))
        .hasMessageContaining("4096 inline bytes in 0 bytes");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022201020304" + "0101010003" + "00")))
        .hasMessageContaining("3 pieces in 1 bytes");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022401020304" + "8004")))
        .hasMessageContaining("512 text bytes in 0 bytes");
  }

  @Test
  void impossibleNumbersAreNamed() {
    assertThatThrownBy(() -> codec.decodeRequest(frame("d5021201020304" + "01" + "0401058100")))
        .hasMessageContaining("block key");
    assertThatThrownBy(() -> codec.decodeRequest(frame("d5021201020304" + "01" + "0802")))
        .hasMessageContaining("key flags 0x8");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022201020304" + "01010513")))
        .hasMessageContaining("answer of kind 5");
    assertThatThrownBy(() -> codec.decodeReply(frame("d5022201020304" + "01010414")))
        .hasMessageContaining("reason 20 is unknown");
  }

  private static ByteBuffer frame(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }
}
