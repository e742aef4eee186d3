package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.Credentials;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Issues the tickets with which readers may connect: random, for one connection, for a short time.
 * Discovery carries them over the engine's own channel, which is as trustworthy as that.
 *
 * <p>Only so many are outstanding; then the oldest is void. Its reader is refused and takes the
 * engine's own shuffle for a while.
 *
 * <p><b>Threads:</b> any. There is nothing to close.
 */
public final class TicketOffice implements Credentials {
  /** Discovery and connect time out long before. */
  static final Duration LIFETIME = Duration.ofSeconds(60);

  static final int OUTSTANDING = 4096;
  private static final int SECRET_BYTES = 32;

  private final ProtectionDomain domain;
  private final NanoClock clock;
  private final SecureRandom random = new SecureRandom();

  /** In the order of issue, which is that of expiry. Locked: used once or thrice per connection. */
  private final Map<Long, Issued> outstanding = new LinkedHashMap<>();

  /**
   * @param domain where the queue pairs of those belong who come with a ticket
   */
  TicketOffice(ProtectionDomain domain, NanoClock clock) {
    this.domain = domain;
    this.clock = clock;
  }

  /**
   * @param credentialId what the owner knows it by; to be sent in the clear
   * @param secret to be kept secret
   */
  public record Ticket(long credentialId, byte[] secret) {}

  private record Issued(byte[] secret, long expiresNs) {}

  /** A new ticket. */
  public Ticket issue() {
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    synchronized (outstanding) {
      dropExpired(OUTSTANDING - 1);
      long id = unusedId();
      outstanding.put(id, new Issued(secret, clock.nanoTime() + LIFETIME.toNanos()));
      return new Ticket(id, secret.clone());
    }
  }

  @Override
  public Credential find(long credentialId) {
    synchronized (outstanding) {
      dropExpired();
      Issued issued = outstanding.get(credentialId);
      return issued == null ? null : new Credential(issued.secret.clone(), domain);
    }
  }

  @Override
  public boolean redeem(long credentialId, Credential found) {
    synchronized (outstanding) {
      dropExpired();
      return outstanding.remove(credentialId) != null;
    }
  }

  @Override
  public void release(long credentialId, Credential found) {
    // The domain is the transport's own, and outlives every connection.
  }

  /** Tickets that may still be used. */
  public int outstanding() {
    synchronized (outstanding) {
      dropExpired();
      return outstanding.size();
    }
  }

  private long unusedId() {
    long id = random.nextLong();
    while (outstanding.containsKey(id)) {
      id = random.nextLong();
    }
    return id;
  }

  private void dropExpired() {
    dropExpired(OUTSTANDING);
  }

  /** Drops what has expired, and the oldest as long as there are more than {@code limit}. */
  private void dropExpired(int limit) {
    long nowNs = clock.nanoTime();
    Iterator<Issued> oldestFirst = outstanding.values().iterator();
    while (oldestFirst.hasNext()) {
      boolean expired = oldestFirst.next().expiresNs - nowNs <= 0;
      if (!expired && outstanding.size() <= limit) {
        return;
      }
      oldestFirst.remove();
    }
  }
}
