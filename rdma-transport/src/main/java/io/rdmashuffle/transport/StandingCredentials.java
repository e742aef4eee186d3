package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.Credentials;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Credentials that any number of readers may use until they are withdrawn, each with a protection
 * domain of its own. A connect request that is sent twice gets no further than the challenge, which
 * has fresh nonces of both sides.
 *
 * <p><b>Threads:</b> any. <b>Ownership:</b> it owns the domains; {@link #close} closes those that
 * were not closed one by one, after every queue pair and region is gone.
 */
final class StandingCredentials implements Credentials, AutoCloseable {
  /** What one credential gives access to. Guarded by the set it is in. */
  static final class Standing {
    private final byte[] secret;
    private final ProtectionDomain domain;
    private final CompletableFuture<Void> unused = new CompletableFuture<>();
    private int connections;
    private boolean withdrawn;

    private Standing(byte[] secret, ProtectionDomain domain) {
      this.secret = secret.clone();
      this.domain = domain;
    }

    ProtectionDomain domain() {
      return domain;
    }

    /** Completes once no connection is left and none can come. */
    CompletableFuture<Void> unused() {
      return unused;
    }
  }

  /** Locked: used twice or thrice per connection. */
  private final Map<Long, Standing> valid = new HashMap<>();

  /** Those whose domain is open, the withdrawn ones included. Locked by {@link #valid}. */
  private final List<Standing> open = new ArrayList<>();

  /**
   * If it throws, nothing was added.
   *
   * @param secret copied
   * @param domain taken over, unless the id is in use or this throws
   * @return false if the id is in use
   */
  boolean add(long credentialId, byte[] secret, ProtectionDomain domain) {
    Long id = credentialId;
    Standing standing = new Standing(secret, domain);
    synchronized (valid) {
      if (valid.containsKey(id)) {
        return false;
      }
      boolean added = false;
      try {
        open.add(standing);
        valid.put(id, standing);
        added = true;
      } finally {
        if (!added) { // a map that cannot grow throws with the entry in it
          valid.remove(id);
          open.remove(standing);
        }
      }
      return true;
    }
  }

  /**
   * What the credential gives access to now.
   *
   * @return null if there is none
   */
  Standing standing(long credentialId) {
    synchronized (valid) {
      return valid.get(credentialId);
    }
  }

  /**
   * Nobody can connect with it any more; who is connected, or about to be, stays. The id may be
   * used anew. Changes nothing if it was withdrawn before.
   *
   * @param standing what {@link #standing} returned for it
   */
  void withdraw(long credentialId, Standing standing) {
    synchronized (valid) {
      if (!valid.remove(credentialId, standing)) {
        return;
      }
      standing.withdrawn = true;
      Arrays.fill(standing.secret, (byte) 0);
      if (standing.connections > 0) {
        return;
      }
    }
    standing.unused.complete(null);
  }

  /**
   * Closes the domain, which must not be used any more.
   *
   * @throws IllegalStateException if it still is; {@link #close} tries again
   */
  void closeDomain(Standing standing) {
    standing.domain.close();
    synchronized (valid) {
      open.remove(standing);
    }
  }

  @Override
  public Credential find(long credentialId) {
    synchronized (valid) {
      Standing standing = valid.get(credentialId);
      return standing == null ? null : new Credential(standing.secret.clone(), standing.domain);
    }
  }

  @Override
  public boolean redeem(long credentialId, Credential found) {
    synchronized (valid) {
      Standing standing = valid.get(credentialId);
      if (standing == null || standing.domain != found.domain()) { // withdrawn meanwhile
        return false;
      }
      standing.connections++;
      return true;
    }
  }

  /** All readers of a tenant, wherever they are. */
  @Override
  public Object sharer(Credential found, String host) {
    return found.domain();
  }

  @Override
  public void release(long credentialId, Credential found) {
    Standing standing;
    synchronized (valid) {
      standing = openOf(found.domain());
      if (standing == null || --standing.connections > 0 || !standing.withdrawn) {
        return;
      }
    }
    standing.unused.complete(null);
  }

  /** Null once it is closed. Allocates nothing: a connection that is over must be counted. */
  private Standing openOf(ProtectionDomain domain) {
    for (int i = 0; i < open.size(); i++) {
      if (open.get(i).domain == domain) {
        return open.get(i);
      }
    }
    return null;
  }

  /** Credentials with which readers may connect. */
  int size() {
    synchronized (valid) {
      return valid.size();
    }
  }

  /** Idempotent. */
  @Override
  public void close() {
    List<Standing> left;
    synchronized (valid) {
      valid.clear();
      left = List.copyOf(open);
      open.clear();
    }
    try (CloseStack domains = new CloseStack()) {
      left.forEach(standing -> domains.push(standing.domain));
    }
  }
}
