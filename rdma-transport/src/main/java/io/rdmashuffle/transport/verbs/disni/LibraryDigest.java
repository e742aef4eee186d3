package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Length and SHA-256 of a native library, as the build writes them beside it: {@code HEX BYTES}.
 * The dynamic linker trusts what it maps: a library that was cut ends the process with SIGBUS.
 */
record LibraryDigest(String sha256, long bytes) {
  static LibraryDigest of(byte[] content) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
      return new LibraryDigest(HexFormat.of().formatHex(hash), content.length);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each Java platform has SHA-256", e);
    }
  }

  /**
   * Compares a library with what was built.
   *
   * @param place for the message
   * @param written what the build wrote; null if it is not there
   */
  static void check(String place, byte[] content, byte[] written) throws TransportException {
    LibraryDigest here = of(content);
    String expected = written == null ? "" : new String(written, StandardCharsets.US_ASCII).strip();
    if (!expected.equals(here.toString())) {
      throw new TransportException(
          Kind.CONFIG,
          place
              + " is damaged: SHA-256 and length are "
              + here
              + ", those of the build "
              + (expected.isEmpty() ? "are missing" : expected)
              + ". Replace this jar with an intact copy");
    }
  }

  @Override
  public String toString() {
    return sha256 + " " + bytes;
  }
}
