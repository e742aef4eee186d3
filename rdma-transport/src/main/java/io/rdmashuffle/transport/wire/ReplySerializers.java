package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.Kryo;
import com.esotericsoftware.kryo.kryo5.Serializer;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import io.rdmashuffle.transport.wire.Reply.Challenge;
import io.rdmashuffle.transport.wire.Reply.Located;
import io.rdmashuffle.transport.wire.Reply.Refused;
import io.rdmashuffle.transport.wire.Reply.Released;
import io.rdmashuffle.transport.wire.Reply.Welcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Bodies of the replies. */
final class ReplySerializers {
  private ReplySerializers() {}

  static final class OfChallenge extends Serializer<Challenge> {
    @Override
    public void write(Kryo kryo, Output out, Challenge challenge) {
      Fields.writeFixed(out, "nonce", WireLimits.NONCE_BYTES, challenge.ownerNonce());
      Fields.writeFixed(out, "mac", WireLimits.MAC_BYTES, challenge.mac());
    }

    @Override
    public Challenge read(Kryo kryo, Input in, Class<? extends Challenge> type) {
      return new Challenge(
          Fields.readFixed(in, WireLimits.NONCE_BYTES), Fields.readFixed(in, WireLimits.MAC_BYTES));
    }
  }

  static final class OfWelcome extends Serializer<Welcome> {
    @Override
    public void write(Kryo kryo, Output out, Welcome welcome) {
      Fields.checkRange("keep-alive ms", welcome.keepAliveMs(), 1, WireLimits.KEEP_ALIVE_MS);
      out.writeVarInt(welcome.keepAliveMs(), true);
    }

    @Override
    public Welcome read(Kryo kryo, Input in, Class<? extends Welcome> type) {
      int keepAliveMs = in.readVarInt(true);
      Fields.checkRange("keep-alive ms", keepAliveMs, 1, WireLimits.KEEP_ALIVE_MS);
      return new Welcome(keepAliveMs);
    }
  }

  static final class OfReleased extends Serializer<Released> {
    @Override
    public void write(Kryo kryo, Output out, Released released) {
      // The header says it all.
    }

    @Override
    public Released read(Kryo kryo, Input in, Class<? extends Released> type) {
      return new Released();
    }
  }

  static final class OfRefused extends Serializer<Refused> {
    @Override
    public void write(Kryo kryo, Output out, Refused refused) {
      byte[] text = refused.text().getBytes(StandardCharsets.UTF_8);
      int bytes = Math.min(text.length, WireLimits.TEXT_BYTES);
      out.writeVarInt(bytes, true);
      out.writeBytes(text, 0, bytes);
    }

    /** A character cut in two, or anything else that is not UTF-8, becomes U+FFFD. */
    @Override
    public Refused read(Kryo kryo, Input in, Class<? extends Refused> type) {
      int bytes = Fields.readCount(in, "text bytes", WireLimits.TEXT_BYTES, 1);
      return new Refused(new String(in.readBytes(bytes), StandardCharsets.UTF_8));
    }
  }

  static final class OfLocated extends Serializer<Located> {
    private final AnswerCodec answerCodec = new AnswerCodec();

    @Override
    public void write(Kryo kryo, Output out, Located located) {
      List<Reply.Answer> answers = located.answers();
      Fields.checkRange("lease", located.lease(), 0, Long.MAX_VALUE);
      Fields.checkRange("answers", answers.size(), 1, WireLimits.KEYS_PER_LOCATE);
      out.writeVarLong(located.lease(), true);
      out.writeVarInt(answers.size(), true);
      answerCodec.start();
      for (int i = 0; i < answers.size(); i++) {
        answerCodec.write(out, answers.get(i));
      }
    }

    @Override
    public Located read(Kryo kryo, Input in, Class<? extends Located> type) {
      long lease = in.readVarLong(true);
      Fields.checkRange("lease", lease, 0, Long.MAX_VALUE);
      int count =
          Fields.readCount(in, "answers", WireLimits.KEYS_PER_LOCATE, AnswerCodec.SHORTEST_BYTES);
      Fields.checkRange("answers", count, 1, WireLimits.KEYS_PER_LOCATE);
      List<Reply.Answer> answers = new ArrayList<>(count);
      answerCodec.start();
      for (int i = 0; i < count; i++) {
        answers.add(answerCodec.read(in));
      }
      return new Located(lease, answers);
    }
  }
}
