package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.Kryo;

/** The type byte of every message. Numbers are never used again for another meaning. */
final class MessageTypes {
  private MessageTypes() {}

  /** Kryo itself takes 0 to 8 for primitives, which are no messages. */
  static void register(Kryo kryo) {
    kryo.register(Request.Hello.class, new RequestSerializers.OfHello(), 0x10);
    kryo.register(Request.Prove.class, new RequestSerializers.OfProve(), 0x11);
    kryo.register(Request.Locate.class, new RequestSerializers.OfLocate(), 0x12);
    kryo.register(Request.Release.class, new RequestSerializers.OfRelease(), 0x13);
    kryo.register(Reply.Challenge.class, new ReplySerializers.OfChallenge(), 0x20);
    kryo.register(Reply.Welcome.class, new ReplySerializers.OfWelcome(), 0x21);
    kryo.register(Reply.Located.class, new ReplySerializers.OfLocated(), 0x22);
    kryo.register(Reply.Released.class, new ReplySerializers.OfReleased(), 0x23);
    kryo.register(Reply.Refused.class, new ReplySerializers.OfRefused(), 0x24);
  }
}
