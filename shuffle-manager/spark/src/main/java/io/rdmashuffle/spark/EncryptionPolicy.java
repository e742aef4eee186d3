package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.Availability.Absent;
import io.rdmashuffle.transport.FallbackReason;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;

/**
 * Keeps RDMA from sending in plain text what Spark is told to encrypt. RDMA carries the bytes of
 * the map output files as they are, so it is safe where those are encrypted already.
 *
 * @param encryptingKeys settings that are on and encrypt Spark's network
 * @param filesEncrypted whether map outputs are encrypted on disk
 * @param plainTextAllowed whether the user permits plain text by name
 * @param permissionKey the setting that permits it
 */
record EncryptionPolicy(
    List<String> encryptingKeys,
    boolean filesEncrypted,
    boolean plainTextAllowed,
    String permissionKey) {
  private static final String FILE_KEY = "spark.io.encryption.enabled";

  /** AES (with spark.authenticate), SASL, and TLS for RPC and block transfer (Spark 4). */
  private static final List<String> NETWORK_KEYS =
      List.of(
          "spark.network.crypto.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.ssl.rpc.enabled");

  static EncryptionPolicy of(SparkConf conf, boolean plainTextAllowed, String permissionKey) {
    List<String> on = NETWORK_KEYS.stream().filter(key -> conf.getBoolean(key, false)).toList();
    return new EncryptionPolicy(
        on, conf.getBoolean(FILE_KEY, false), plainTextAllowed, permissionKey);
  }

  /** Why RDMA must stay off, and what to do; empty if it may be used. */
  Optional<Absent> obstacle() {
    if (encryptingKeys.isEmpty() || filesEncrypted || plainTextAllowed) {
      return Optional.empty();
    }
    String on = encryptingKeys.stream().map(k -> k + "=true").collect(Collectors.joining(", "));
    return Optional.of(
        Absent.forGood(
            FallbackReason.ENCRYPTION,
            on
                + " asks for an encrypted network, which RDMA is not; encrypt the map outputs ("
                + FILE_KEY
                + "=true) or permit plain text ("
                + permissionKey
                + "=true)"));
  }
}
