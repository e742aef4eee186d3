package io.rdmashuffle.transport.wire;

/**
 * Bounds of the protocol that both sides share. A change of meaning needs a new {@link #VERSION}.
 */
public final class WireLimits {
  /** Version of the control protocol. Peers of another version use the engine's own shuffle. */
  public static final int VERSION = 1;

  /** Longest control frame, header included. */
  public static final int FRAME_BYTES = 8 << 10;

  /** Most block keys in one LOCATE. */
  public static final int KEYS_PER_LOCATE = 256;

  /** Most leases in one frame's list of releases. */
  public static final int RELEASES_PER_FRAME = 256;

  /** Most pieces of one block in one answer. */
  public static final int PIECES_PER_BLOCK = 256;

  /** Length of a nonce. */
  public static final int NONCE_BYTES = 16;

  /** Length of an HMAC-SHA256 code. */
  public static final int MAC_BYTES = 32;

  /** Longest text of a refusal, in UTF-8 bytes. */
  public static final int TEXT_BYTES = 512;

  private WireLimits() {}
}
