package io.rdmashuffle.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever arrives, the decoder returns a message or throws a WireException, nothing else. */
final class WireFuzzTest {
  private static final long SEED = Long.getLong("wire.fuzz.seed", 42);
  private final WireCodec codec = new WireCodec();
  private final Random random = new Random(SEED);

  @Test
  void framesCutAtAnyByteAreRefused() {
    for (Object message : messages()) {
      ByteBuffer whole = Messages.encode(1, message);
      for (int length = 0; length < whole.limit(); length++) {
        ByteBuffer cut = whole.duplicate().limit(length);
        assertThatThrownBy(() -> decode(message, cut))
            .as("%s cut at %d", message.getClass().getSimpleName(), cut.limit())
            .isInstanceOf(WireException.class);
      }
    }
  }

  @Test
  void framesWithAnyByteChangedAreRefusedOrAnotherMessage() {
    for (Object message : messages()) {
      ByteBuffer whole = Messages.encode(1, message);
      for (int i = 0; i < whole.limit(); i++) {
        byte original = whole.get(i);
        for (int change : new int[] {0x01, 0x80, 0xff, 1 + random.nextInt(255)}) {
          whole.put(i, (byte) (original ^ change));
          decodeOrRefuse(message, whole.duplicate(), "byte " + i + " ^ " + change);
        }
        whole.put(i, original);
      }
    }
  }

  @Test
  void randomBodiesAreRefusedOrAMessage() {
    List<Object> kinds = Messages.oneOfEach();
    for (int i = 0; i < 20_000; i++) {
      Object kind = kinds.get(random.nextInt(kinds.size()));
      ByteBuffer header = Messages.encode(1, kind).limit(WireLimits.HEADER_BYTES);
      byte[] body = new byte[random.nextInt(64)];
      random.nextBytes(body);
      ByteBuffer frame = Messages.frame().put(header).put(body).flip();
      decodeOrRefuse(kind, frame, "random body " + i);
    }
  }

  @Test
  void whatDecodesEncodesAgain() throws WireException {
    int decoded = 0;
    for (Object message : messages()) {
      ByteBuffer whole = Messages.encode(1, message);
      for (int i = 0; i < 500; i++) {
        ByteBuffer changed = Messages.frame().put(whole.duplicate()).flip();
        int at = WireLimits.HEADER_BYTES + random.nextInt(whole.limit());
        if (at < changed.limit()) {
          changed.put(at, (byte) random.nextInt());
        }
        Object back = decodeOrRefuse(message, changed, "seed " + SEED);
        if (back != null) {
          decoded++;
          assertThat(Messages.decode(message, Messages.encode(1, back)))
              .usingRecursiveComparison()
              .isEqualTo(back);
        }
      }
    }
    assertThat(decoded).isPositive();
  }

  private List<Object> messages() {
    List<Object> all = new ArrayList<>(Messages.oneOfEach());
    all.removeIf(m -> m instanceof Reply.Released); // its header is all there is
    all.add(Messages.typicalLocate());
    all.add(Messages.located(new Random(SEED)));
    return all;
  }

  private Object decode(Object like, ByteBuffer frame) throws WireException {
    return like instanceof Request ? codec.decodeRequest(frame) : codec.decodeReply(frame);
  }

  private Object decodeOrRefuse(Object like, ByteBuffer frame, String what) {
    try {
      return decode(like, frame);
    } catch (WireException e) {
      assertThat(e).hasMessageNotContainingAny("null");
      return null;
    } catch (RuntimeException | Error e) {
      return fail(what + ", seed " + SEED + ": " + e, e);
    }
  }
}
