package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;

/**
 * What an owner sends back in the connection manager's messages: with an acceptance, how many
 * requests it takes at a time; with a rejection, why.
 *
 * @param version of the owner's control protocol
 * @param reason why not; {@link Reason#NONE} with an acceptance
 * @param requestsInFlight receives the owner has posted
 */
record ConnectAnswer(int version, Reason reason, int requestsInFlight) {
  private static final int MAGIC = 0x52445341; // "RDSA"
  private static final int BYTES = 4 + 1 + 1 + 2;

  // enum ib_cm_rej_reason, as RDMA CM reports it in the event's status
  private static final int INVALID_SERVICE_ID = 8;

  /** Numbers of the protocol, in this order: 0, 1, 2 and so on. New ones go last. */
  enum Reason {
    NONE,
    /** Another version of the protocol. */
    VERSION,
    /** Unknown, expired or used credential, or a wrong code: the reader is not told which. */
    CREDENTIAL,
    /** No room for a connection. */
    CONNECTION_CAP,
    /** The request is none of this protocol. */
    MALFORMED,
    /** The owner is closing. */
    STOPPING,
    /** The owner failed to set the connection up. */
    SETUP_FAILED
  }

  static ConnectAnswer accepting(int requestsInFlight) {
    return new ConnectAnswer(WireLimits.VERSION, Reason.NONE, requestsInFlight);
  }

  static ConnectAnswer rejecting(Reason reason) {
    return new ConnectAnswer(WireLimits.VERSION, reason, 0);
  }

  byte[] encode() {
    return ByteBuffer.allocate(BYTES)
        .putInt(MAGIC)
        .put((byte) version)
        .put((byte) reason.ordinal())
        .putShort((short) requestsInFlight)
        .array();
  }

  /** Returns null if it is none. Padding behind it is ignored. */
  static ConnectAnswer parse(byte[] privateData) {
    ByteBuffer in = ByteBuffer.wrap(privateData);
    if (privateData.length < BYTES || in.getInt() != MAGIC) {
      return null;
    }
    int version = in.get() & 0xff;
    int reason = in.get() & 0xff;
    if (reason >= Reason.values().length) {
      return null;
    }
    return new ConnectAnswer(version, Reason.values()[reason], in.getShort() & 0xffff);
  }

  /** What a rejection means to the one who dialled. */
  static TransportException toException(String peer, int status, byte[] privateData) {
    ConnectAnswer answer = parse(privateData);
    if (answer == null) {
      String why = status == INVALID_SERVICE_ID ? ": nobody listens there" : "";
      return new TransportException(
          Kind.PEER_LOST, "connect to " + peer + " was rejected, status " + status + why);
    }
    String start = "connect to " + peer + " was rejected: ";
    return switch (answer.reason) {
      case VERSION ->
          new TransportException(
              Kind.CONFIG,
              start
                  + "it speaks protocol version "
                  + answer.version
                  + ", this side "
                  + WireLimits.VERSION
                  + "; run the same release on both");
      case CREDENTIAL ->
          new TransportException(
              Kind.PEER_LOST, start + "the ticket or secret is wrong, expired or used");
      case CONNECTION_CAP ->
          new ConnectionCapException(start + "it has no room for another connection");
      case STOPPING -> new TransportException(Kind.PEER_LOST, start + "it is stopping");
      case SETUP_FAILED ->
          new TransportException(Kind.PEER_LOST, start + "it could not set up its side");
      case MALFORMED, NONE ->
          new TransportException(Kind.BUG, start + "it did not understand the request");
    };
  }
}
