package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a reader sends along with its connect request, so that an owner can refuse it before it
 * creates anything: 45 of the 56 bytes that InfiniBand carries. A filter, not the authentication:
 * that follows on the connection, with nonces of both sides.
 *
 * @param version of the control protocol
 * @param credentialId by which the owner knows the secret
 * @param nonce fresh random bytes
 * @param mac over version, id and nonce, cut to {@link #MAC_BYTES}
 */
record ConnectRequest(int version, long credentialId, byte[] nonce, byte[] mac) {
  private static final int MAGIC = 0x52445348; // "RDSH"
  private static final int MAC_BYTES = 16;
  private static final int BYTES = 4 + 1 + 8 + WireLimits.NONCE_BYTES + MAC_BYTES;
  private static final String LABEL = "rdma-shuffle connect";

  /** Builds the request of this side. */
  static ConnectRequest create(Hmac hmac, long credentialId, byte[] secret, byte[] nonce) {
    byte[] mac = mac(hmac, secret, WireLimits.VERSION, credentialId, nonce);
    return new ConnectRequest(WireLimits.VERSION, credentialId, nonce, mac);
  }

  byte[] encode() {
    return ByteBuffer.allocate(BYTES)
        .putInt(MAGIC)
        .put((byte) version)
        .putLong(credentialId)
        .put(nonce)
        .put(mac)
        .array();
  }

  /** Returns null if it is none. Padding behind it is ignored. */
  static ConnectRequest parse(byte[] privateData) {
    ByteBuffer in = ByteBuffer.wrap(privateData);
    if (privateData.length < BYTES || in.getInt() != MAGIC) {
      return null;
    }
    int version = in.get() & 0xff;
    long credentialId = in.getLong();
    byte[] nonce = new byte[WireLimits.NONCE_BYTES];
    in.get(nonce);
    byte[] mac = new byte[MAC_BYTES];
    in.get(mac);
    return new ConnectRequest(version, credentialId, nonce, mac);
  }

  /** Whether the sender knows the secret. */
  boolean isAuthentic(Hmac hmac, byte[] secret) {
    return Hmac.matches(mac(hmac, secret, version, credentialId, nonce), mac);
  }

  private static byte[] mac(
      Hmac hmac, byte[] secret, int version, long credentialId, byte[] nonce) {
    byte[] head = ByteBuffer.allocate(9).put((byte) version).putLong(credentialId).array();
    return Arrays.copyOf(hmac.compute(secret, LABEL, head, nonce), MAC_BYTES);
  }
}
