package io.rdmashuffle.transport.channel;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.SecretKey;

/**
 * HMAC-SHA256 (RFC 2104, RFC 4231) under a label that says what the code is for, so that a code
 * made for one purpose or direction is worth nothing in another.
 *
 * <p><b>Threads:</b> one at a time. Copies of a secret made here are wiped before the call ends.
 */
final class Hmac {
  private static final SecretKey NO_SECRET = new RawKey(new byte[1]);

  private final Mac mac;

  Hmac() {
    try {
      mac = Mac.getInstance("HmacSHA256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }

  /**
   * @param secret not empty
   * @param parts of lengths that the label implies; their boundaries are not part of the code
   */
  byte[] compute(byte[] secret, String label, byte[]... parts) {
    try {
      mac.init(new RawKey(secret));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      mac.update((byte) 0);
      for (byte[] part : parts) {
        mac.update(part);
      }
      byte[] code = mac.doFinal();
      mac.init(NO_SECRET); // writes over what the implementation derived from the secret
      return code;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("HmacSHA256 refuses a raw key", e);
    }
  }

  /** Compares in constant time. */
  static boolean matches(byte[] expected, byte[] received) {
    return MessageDigest.isEqual(expected, received);
  }

  /**
   * A key without a copy of its own, unlike {@link javax.crypto.spec.SecretKeySpec}. The Mac wipes
   * what it takes out.
   */
  private static final class RawKey implements SecretKey {
    private static final long serialVersionUID = 1L;
    private final transient byte[] bytes;

    RawKey(byte[] bytes) {
      if (bytes.length == 0) {
        throw new IllegalArgumentException("empty secret");
      }
      this.bytes = bytes;
    }

    @Override
    public String getAlgorithm() {
      return "HmacSHA256";
    }

    @Override
    public String getFormat() {
      return "RAW";
    }

    @Override
    public byte[] getEncoded() {
      return bytes.clone();
    }
  }
}
