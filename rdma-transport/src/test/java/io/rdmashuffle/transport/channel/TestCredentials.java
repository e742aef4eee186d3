package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Tickets that work once, and job secrets that work for ever. */
final class TestCredentials implements Credentials {
  private final ProtectionDomain domain;
  private final Map<Long, byte[]> secrets = new HashMap<>();
  private final Set<Long> reusable = new HashSet<>();
  private final Set<Long> throwing = new HashSet<>();
  private final Set<Long> spent = new HashSet<>();

  TestCredentials(ProtectionDomain domain) {
    this.domain = domain;
  }

  void addTicket(long id, byte[] secret) {
    secrets.put(id, secret);
  }

  void addJob(long id, byte[] secret) {
    secrets.put(id, secret);
    reusable.add(id);
  }

  void throwOnRedeem(long id, byte[] secret) {
    secrets.put(id, secret);
    throwing.add(id);
  }

  void expire(long id) {
    secrets.remove(id);
  }

  boolean isSpent(long id) {
    return spent.contains(id);
  }

  @Override
  public Credential find(long credentialId) {
    byte[] secret = secrets.get(credentialId);
    return secret == null ? null : new Credential(secret, domain);
  }

  @Override
  public boolean redeem(long credentialId, Credential found) {
    if (throwing.contains(credentialId)) {
      throw new IllegalStateException("thrown on purpose");
    }
    return spent.add(credentialId) || reusable.contains(credentialId);
  }

  @Override
  public void release(long credentialId, Credential found) {
    // One domain for all.
  }
}
