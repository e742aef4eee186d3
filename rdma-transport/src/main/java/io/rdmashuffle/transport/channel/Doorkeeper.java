package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.channel.Credentials.Credential;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.wire.WireLimits;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides on connect requests before anything is created for them: version, credential, code,
 * replay, room, in this order. Whoever is turned down for what it sent learns nothing else.
 *
 * <p><b>Threads:</b> the CM thread.
 */
final class Doorkeeper implements CmThread.Watcher {
  private static final Logger LOG = LoggerFactory.getLogger(Doorkeeper.class);

  /** More than can connect within the time that a replay would be of use. */
  private static final int REMEMBERED_NONCES = 8192;

  private final Establishing establishing;
  private final Credentials credentials;
  private final OwnerChannel.Acceptor acceptor;
  private final Hmac hmac = new Hmac();
  private final Set<ByteBuffer> seenNonces = new LinkedHashSet<>();

  Doorkeeper(Establishing establishing, Credentials credentials, OwnerChannel.Acceptor acceptor) {
    this.establishing = establishing;
    this.credentials = credentials;
    this.acceptor = acceptor;
  }

  @Override
  public void onEvent(CmEvent event) {
    try {
      decide(event.id(), ConnectRequest.parse(event.privateData()));
    } catch (RuntimeException bug) { // of the credentials, most likely: the id must not stay
      dismiss(event.id());
      establishing
          .context()
          .logLimit()
          .log(
              Doorkeeper.class,
              more -> LOG.error("deciding on a connect request threw{}", more, bug));
    } catch (Error e) {
      dismiss(event.id());
      throw e;
    }
  }

  private void dismiss(CmId id) {
    try {
      reject(id, Reason.SETUP_FAILED, "bug");
    } catch (RuntimeException | Error again) { // the peer hears nothing then
      id.close();
    }
  }

  private void decide(CmId id, ConnectRequest request) {
    if (request == null) {
      reject(id, Reason.MALFORMED, "no connect request of this protocol");
    } else if (request.version() != WireLimits.VERSION) {
      reject(id, Reason.VERSION, "protocol version " + request.version());
    } else {
      authenticate(id, request);
    }
  }

  private void authenticate(CmId id, ConnectRequest request) {
    Credential credential = credentials.find(request.credentialId());
    if (credential == null) {
      reject(id, Reason.CREDENTIAL, "unknown or expired");
    } else if (!request.isAuthentic(hmac, credential.secret())) {
      reject(id, Reason.CREDENTIAL, "wrong code");
    } else if (!isFirst(request.nonce())) {
      reject(id, Reason.CREDENTIAL, "replayed");
    } else {
      admit(id, request.credentialId(), credential);
    }
  }

  /** Room is asked for before the credential is spent: the reader may come again with it. */
  private void admit(CmId id, long credentialId, Credential credential) {
    ConnectionLimits limits = establishing.limits();
    InetSocketAddress peer = peer(id);
    Object sharer = credentials.sharer(credential, peer.getHostString());
    ConnectionLimits.Permit permit = limits.tryAcquire(establishing.ownerShape().entries(), sharer);
    if (permit == null && limits.isClosed()) {
      reject(id, Reason.STOPPING, limits.closedReason());
    } else if (permit == null) {
      establishing.giveUpAnIdleOne(limits.hasRoom() ? c -> c.isOf(sharer) : c -> true);
      reject(id, Reason.CONNECTION_CAP, limits.describe());
    } else {
      var caller =
          new OwnerConnection.Caller(peer, credentialId, credential.domain(), acceptor, permit);
      admit(id, caller, credential);
    }
  }

  private void admit(CmId id, OwnerConnection.Caller caller, Credential credential) {
    boolean admitted = false;
    try {
      admitted = redeem(caller.credentialId(), credential, caller.permit());
      if (admitted) {
        admitted = false;
        MutualChallenge challenge = challenge(caller.credentialId(), credential);
        new Inbound(establishing, id, caller, challenge).start();
        admitted = true;
      } else {
        reject(id, Reason.CREDENTIAL, "used before");
      }
    } finally {
      if (!admitted) {
        caller.permit().close();
      }
    }
  }

  private boolean redeem(long credentialId, Credential credential, ConnectionLimits.Permit permit) {
    Runnable release = () -> credentials.release(credentialId, credential);
    boolean redeemed = credentials.redeem(credentialId, credential);
    if (redeemed) {
      permit.onReturned(release);
    }
    return redeemed;
  }

  private MutualChallenge challenge(long credentialId, Credential credential) {
    ChannelContext context = establishing.context();
    return new MutualChallenge(context.hmac(), credentialId, credential.secret(), context.nonce());
  }

  private boolean isFirst(byte[] nonce) {
    if (seenNonces.size() == REMEMBERED_NONCES) {
      seenNonces.remove(seenNonces.iterator().next());
    }
    return seenNonces.add(ByteBuffer.wrap(nonce));
  }

  private void reject(CmId id, Reason reason, String detail) {
    establishing.context().counters().increment(Counter.CONNECTIONS_REFUSED);
    Rejecting.log(establishing.context().logLimit(), peer(id), reason, detail);
    Runnable rejection = () -> Rejecting.rejectAndClose(id, reason);
    establishing.context().slowPool().execute(Work.of(rejection, why -> rejection.run()));
  }

  private static InetSocketAddress peer(CmId id) {
    try {
      return id.peerAddress();
    } catch (VerbsException e) {
      return InetSocketAddress.createUnresolved("an unknown peer", 0);
    }
  }
}
