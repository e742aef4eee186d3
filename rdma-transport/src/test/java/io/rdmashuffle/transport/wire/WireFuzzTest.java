package io.rdmashuffle.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.rdmashuffle.transport.testing.FuzzBudget;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever arrives, the decoder returns a message or throws a WireException, nothing else. */
final class WireFuzzTest {
  private static final long SEED = Long.getLong("wire.fuzz.seed", 42);
  private final WireCodec codec = new WireCodec();
  private Random random = new Random(SEED);

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

  /** Everything at once: whole messages cut, changed, joined, lengthened, or nothing but noise. */
  @Test
  @Timeout(unit = TimeUnit.MINUTES, value = 90)
  void whateverArrivesIsAMessageOrRefused() throws WireException {
    FuzzBudget budget = FuzzBudget.of("frame decoder", 20);
    List<Object> messages = messages();
    long decoded = 0;
    while (budget.goesOn()) {
      long seed = budget.nextSeed();
      random = new Random(seed);
      for (int i = 0; i < 2_000; i++) {
        Object like = messages.get(random.nextInt(messages.size()));
        decoded += decodeOrRefuse(like, mutation(like, messages), "seed " + seed) == null ? 0 : 1;
      }
    }
    assertThat(decoded).isPositive();
  }

  private ByteBuffer mutation(Object like, List<Object> messages) {
    byte[] bytes = bytesOf(like);
    for (int changes = random.nextInt(4); changes >= 0 && bytes.length > 0; changes--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> bytes = Arrays.copyOf(bytes, at);
        case 3 -> bytes = Arrays.copyOf(bytes, Math.min(WireLimits.FRAME_BYTES, bytes.length + at));
        case 4 -> {
          byte[] other = bytesOf(messages.get(random.nextInt(messages.size())));
          int from = random.nextInt(other.length);
          int length = Math.min(bytes.length - at, other.length - from);
          System.arraycopy(other, from, bytes, at, length);
        }
        default -> {
          byte[] noise = new byte[random.nextInt(1 + Math.min(16, bytes.length - at))];
          random.nextBytes(noise);
          System.arraycopy(noise, 0, bytes, at, noise.length);
        }
      }
    }
    return ByteBuffer.wrap(bytes);
  }

  private static byte[] bytesOf(Object message) {
    ByteBuffer frame = Messages.encode(1, message);
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
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
