package io.rdmashuffle.transport.wire;

import java.util.List;

/** What a reader asks of an owner. Each request gets exactly one {@link Reply}. */
public sealed interface Request {
  /**
   * The first frame on a connection: the reader's half of the mutual challenge.
   *
   * @param version {@link WireLimits#VERSION} of the reader
   * @param readerNonce fresh random bytes, {@link WireLimits#NONCE_BYTES}
   */
  record Hello(int version, byte[] readerNonce) implements Request {}

  /**
   * The second frame: proves that the reader knows the secret.
   *
   * @param mac over both nonces, {@link WireLimits#MAC_BYTES}
   */
  record Prove(byte[] mac) implements Request {}

  /**
   * Asks where blocks lie. The owner leases what it grants until released.
   *
   * @param keys 1 to {@link WireLimits#KEYS_PER_LOCATE}
   * @param releases leases the reader is done with, at most {@link WireLimits#RELEASES_PER_FRAME}
   */
  record Locate(List<BlockKey> keys, long[] releases) implements Request {}

  /**
   * Ends leases, and tells the owner that the reader lives: with no leases it is a keep-alive,
   * which may also come between the frames of the challenge.
   *
   * @param leases at most {@link WireLimits#RELEASES_PER_FRAME}
   */
  record Release(long[] leases) implements Request {}
}
