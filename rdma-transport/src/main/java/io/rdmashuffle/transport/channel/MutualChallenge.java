package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The proof on both sides that the other one knows the secret: each computes a code over its own
 * and the other's nonce. The labels differ by direction, so that a code cannot be sent back to
 * where it came from. One side of one connection; {@link #wipe} when it is over.
 */
final class MutualChallenge {
  private static final String OWNER_LABEL = "rdma-shuffle owner";
  private static final String READER_LABEL = "rdma-shuffle reader";

  private final Hmac hmac;
  private final byte[] secret;
  private final byte[] head;
  private final byte[] ownNonce;
  private byte[] peerNonce;

  /**
   * @param secret copied
   * @param ownNonce fresh random bytes
   */
  MutualChallenge(Hmac hmac, long credentialId, byte[] secret, byte[] ownNonce) {
    this.hmac = hmac;
    this.secret = secret.clone();
    this.head = ByteBuffer.allocate(9).put((byte) WireLimits.VERSION).putLong(credentialId).array();
    this.ownNonce = ownNonce;
  }

  // ---- the reader's side

  Request.Hello hello() {
    return new Request.Hello(WireLimits.VERSION, ownNonce);
  }

  /** Whether the owner knows the secret. */
  boolean isAuthentic(Reply.Challenge challenge) {
    peerNonce = challenge.ownerNonce();
    return Hmac.matches(code(OWNER_LABEL, ownNonce, peerNonce), challenge.mac());
  }

  /** After {@link #isAuthentic}. */
  Request.Prove prove() {
    return new Request.Prove(code(READER_LABEL, ownNonce, peerNonce));
  }

  // ---- the owner's side

  Reply.Challenge challenge(Request.Hello hello) {
    peerNonce = hello.readerNonce();
    return new Reply.Challenge(ownNonce, code(OWNER_LABEL, peerNonce, ownNonce));
  }

  /** Whether the reader knows the secret. After {@link #challenge}. */
  boolean isAuthentic(Request.Prove prove) {
    return Hmac.matches(code(READER_LABEL, peerNonce, ownNonce), prove.mac());
  }

  /** Overwrites the secret. Idempotent; nothing works afterwards. */
  void wipe() {
    Arrays.fill(secret, (byte) 0);
  }

  private byte[] code(String label, byte[] readerNonce, byte[] ownerNonce) {
    return hmac.compute(secret, label, head, readerNonce, ownerNonce);
  }
}
