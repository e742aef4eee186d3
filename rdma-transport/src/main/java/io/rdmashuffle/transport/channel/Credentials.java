package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.ProtectionDomain;

/**
 * What an owner knows of those who may connect. Called on the CM thread, {@link #release} on any;
 * must not block.
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
   * Spends a credential, after the request's code was found right. If it may be used, a queue pair
   * is made in its domain.
   *
   * @param found what {@link #find} returned for it
   * @return false if it may not be used, or not again
   */
  boolean redeem(long credentialId, Credential found);

  /**
   * Whose part of the connections a reader's connection belongs to: by default that of all readers
   * on its host. Has {@code equals} and {@code hashCode}.
   *
   * @param found what {@link #find} returned for it
   * @param host the reader's address
   */
  default Object sharer(Credential found, String host) {
    return host;
  }

  /**
   * A connection for which {@link #redeem} returned true is over, and its queue pair destroyed.
   *
   * @param found as given to {@link #redeem}
   */
  void release(long credentialId, Credential found);

  /**
   * @param secret key of the challenge
   * @param domain where this reader's queue pair belongs
   */
  record Credential(byte[] secret, ProtectionDomain domain) {}
}
