package io.rdmashuffle.transport.protocol;

import io.rdmashuffle.transport.channel.Credentials;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Credentials that work once, as Spark's readers get them from discovery. */
final class Tickets implements Credentials {
  private final ProtectionDomain domain;
  private final AtomicLong ids = new AtomicLong(1000);
  private final Map<Long, byte[]> valid = new ConcurrentHashMap<>();

  /**
   * @param id of the credential
   * @param secret that goes with it
   */
  record Ticket(long id, byte[] secret) {}

  Tickets(ProtectionDomain domain) {
    this.domain = domain;
  }

  Ticket issue() {
    long id = ids.incrementAndGet();
    byte[] secret = ByteBuffer.allocate(32).putLong(8, id * 31).array();
    valid.put(id, secret);
    return new Ticket(id, secret.clone());
  }

  void expire(Ticket ticket) {
    valid.remove(ticket.id());
  }

  @Override
  public Credential find(long credentialId) {
    byte[] secret = valid.get(credentialId);
    return secret == null ? null : new Credential(secret, domain);
  }

  @Override
  public boolean redeem(long credentialId, Credential found) {
    return valid.remove(credentialId) != null;
  }

  @Override
  public void release(long credentialId, Credential found) {
    // One domain for all.
  }
}
