package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.ProtectionDomain;

/**
 * What an owner knows of those who may connect. Called on the CM thread; must not block.
 *
 * <p>In Spark a credential is a single-use ticket handed out by discovery; in MapReduce it is a
 * job's shuffle secret.
 */
public interface Credentials {
  /**
   * @return null if unknown or expired
   */
  Credential find(long credentialId);

  /**
   * Spends a credential, after the request's code was found right.
   *
   * @return false if it may not be used again
   */
  boolean redeem(long credentialId);

  /**
   * @param secret key of the challenge
   * @param domain where this reader's queue pair belongs
   */
  record Credential(byte[] secret, ProtectionDomain domain) {}
}
