package io.rdmashuffle.transport.wire;

import io.rdmashuffle.transport.FallbackReason;
import java.util.List;

/** What an owner answers. */
public sealed interface Reply {
  /**
   * To {@link Request.Hello}: the owner's half of the challenge.
   *
   * @param ownerNonce fresh random bytes, {@link WireLimits#NONCE_BYTES}
   * @param mac over both nonces, proves that the owner knows the secret
   */
  record Challenge(byte[] ownerNonce, byte[] mac) implements Reply {}

  /**
   * To {@link Request.Prove}: the connection serves blocks from now on.
   *
   * @param keepAliveMs the owner ends the session when it hears nothing for three times that long;
   *     1 to {@link WireLimits#KEEP_ALIVE_MS}
   */
  record Welcome(int keepAliveMs) implements Reply {}

  /**
   * To {@link Request.Locate}. Answers the first keys of the request, at least one: the owner stops
   * where the next answer would not fit the frame ({@link WireSizes}), and the reader asks again
   * for the keys that were left out.
   *
   * @param lease names everything granted in this reply, not negative; 0 if nothing was granted
   * @param answers one per answered key, in the order of the keys
   */
  record Located(long lease, List<Answer> answers) implements Reply {}

  /** To {@link Request.Release}. */
  record Released() implements Reply {}

  /**
   * To any request the owner cannot serve; it closes the connection afterwards.
   *
   * @param text for the reader's log; cut at {@link WireLimits#TEXT_BYTES}
   */
  record Refused(String text) implements Reply {}

  /**
   * Where one block lies. With a block comes its attribute, a number that the owner's catalog and
   * its readers give a meaning: the length before compression in MapReduce, 0 in Spark.
   */
  sealed interface Answer {}

  /**
   * READ these pieces, in order; together they are the block. One to {@link
   * WireLimits#PIECES_PER_BLOCK} pieces; a block of more is {@link NotByRdma}.
   *
   * @param attribute of the block
   * @param staged whether the owner copied the block into registered memory for this
   */
  record Granted(long attribute, boolean staged, List<Piece> pieces) implements Answer {}

  /**
   * Part of a block in the owner's registered memory.
   *
   * @param bytes above 0
   */
  record Piece(long address, int rkey, int bytes) {}

  /**
   * The block itself.
   *
   * @param attribute of the block
   * @param bytes at most {@link WireLimits#INLINE_BYTES}; may be empty
   */
  record Inline(long attribute, byte[] bytes) implements Answer {}

  /** Take this block from the engine's own shuffle. */
  record NotByRdma(FallbackReason reason) implements Answer {}
}
