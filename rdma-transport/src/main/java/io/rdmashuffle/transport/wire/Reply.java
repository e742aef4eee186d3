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
   * @param keepAliveMs the owner ends the session when it hears nothing for three times that long
   */
  record Welcome(int keepAliveMs) implements Reply {}

  /**
   * To {@link Request.Locate}.
   *
   * @param lease names everything granted in this reply; 0 if nothing was granted
   * @param answers one per key, in the order of the keys
   */
  record Located(long lease, List<Answer> answers) implements Reply {}

  /** To {@link Request.Release}. */
  record Released() implements Reply {}

  /**
   * To any request the owner cannot serve; it closes the connection afterwards.
   *
   * @param text for the reader's log, at most {@link WireLimits#TEXT_BYTES}
   */
  record Refused(String text) implements Reply {}

  /** Where one block lies. */
  sealed interface Answer {}

  /**
   * READ these pieces, in order; together they are the block.
   *
   * @param staged whether the owner copied the block into registered memory for this
   */
  record Granted(boolean staged, List<Piece> pieces) implements Answer {}

  /** Part of a block in the owner's registered memory. */
  record Piece(long address, int rkey, int bytes) {}

  /** The block itself, small enough for the reply. May be empty. */
  record Inline(byte[] bytes) implements Answer {}

  /** Take this block from the engine's own shuffle. */
  record NotByRdma(FallbackReason reason) implements Answer {}
}
