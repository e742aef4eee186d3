package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns connect requests down. */
final class Rejecting {
  private static final Logger LOG = LoggerFactory.getLogger(Rejecting.class);

  private Rejecting() {}

  /**
   * One line a minute per address that is refused, except where the peer's repeating it is
   * ordinary: at the cap.
   *
   * @param detail for this side's log only
   */
  static void log(LogLimit limit, InetSocketAddress peer, Reason reason, String detail) {
    if (reason == Reason.CONNECTION_CAP) {
      LOG.debug("refused {}: {}, {}", peer, reason, detail);
    } else {
      limit.log(
          peer.getHostString(),
          more -> LOG.info("refused {}: {}, {}{}", peer, reason, detail, more));
    }
  }

  /** Waits for the connection manager; slow pool only. */
  static void rejectAndClose(CmId id, Reason reason) {
    try (id) {
      id.reject(ConnectAnswer.rejecting(reason).encode());
    } catch (VerbsException e) {
      LOG.debug("the peer was gone before it was refused", e);
    }
  }
}
