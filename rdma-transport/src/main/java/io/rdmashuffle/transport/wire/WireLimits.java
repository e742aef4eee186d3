package io.rdmashuffle.transport.wire;

/**
 * Bounds of the protocol that both sides share. A change of meaning needs a new {@link #VERSION}.
 *
 * <p>Every message within these bounds fits one frame, whatever its numbers are, with one
 * exception: the answers to 256 keys may be longer than a frame. Then the owner answers the first
 * keys only, at least one, and the reader asks again for the rest ({@link Reply.Located}). The
 * longest single answer fits, so that every LOCATE makes progress.
 */
public final class WireLimits {
  /** Version of the control protocol. Peers of another version use the engine's own shuffle. */
  public static final int VERSION = 2;

  /** Longest control frame, header included. */
  public static final int FRAME_BYTES = 8 << 10;

  /** Magic number, version, type, request id. */
  public static final int HEADER_BYTES = 7;

  /** Most block keys in one LOCATE; there is at least one. */
  public static final int KEYS_PER_LOCATE = 256;

  /** Most leases in one frame's list of releases. */
  public static final int RELEASES_PER_FRAME = 128;

  private static final int LEASES_PER_REQUEST = 4;

  /** Most pieces of one block in one answer; there is at least one. */
  public static final int PIECES_PER_BLOCK = 256;

  /** Longest block that travels inside a reply. */
  public static final int INLINE_BYTES = 4 << 10;

  /** Length of a nonce. */
  public static final int NONCE_BYTES = 16;

  /** Length of an HMAC-SHA256 code. */
  public static final int MAC_BYTES = 32;

  /** Longest text of a refusal, in UTF-8 bytes. */
  public static final int TEXT_BYTES = 512;

  /** Longest interval of keep-alives: a day. */
  public static final int KEEP_ALIVE_MS = 24 * 60 * 60 * 1000;

  /**
   * Most leases that a reader may hold when it asks for more, with its unanswered LOCATEs counted
   * as one each: an owner closes the connection of a reader that exceeds it. Four times the
   * requests, so that as many LOCATEs can be read, and returned, as are on their way.
   *
   * @param requests that one connection may have unanswered
   */
  public static int mostLeases(int requests) {
    return LEASES_PER_REQUEST * requests;
  }

  private WireLimits() {}
}
