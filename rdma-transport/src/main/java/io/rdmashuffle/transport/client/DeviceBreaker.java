package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.LogLimit;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops all fetches when it is the adapter that fails and not a peer: after an event of the device,
 * or when several peers fail in a short time and nothing succeeds in between. Afterwards single
 * peers probe it, so that not all wait for the same time-out. Progress thread only.
 */
final class DeviceBreaker {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceBreaker.class);

  /** That many peers, failing within the time below, are not a coincidence. */
  static final int SUSPICIOUS_PEERS = 4;

  private static final long SUSPICIOUS_NS = 2_000_000_000L;

  private enum State {
    CLOSED,
    OPEN,
    /** Single peers may try. */
    PROBING
  }

  private final Backoff backoff;
  private final long probeIntervalNs;
  private final LogLimit log;
  private final Set<String> failedPeers = new HashSet<>();
  private State state = State.CLOSED;
  private long firstFailureNs;
  private long nextProbeNs;
  private String probe;

  /**
   * @param probeIntervalNs how long a probe may take before another peer may try
   * @param log for its lines: an adapter may fail and recover again and again
   */
  DeviceBreaker(Backoff backoff, long probeIntervalNs, LogLimit log) {
    this.backoff = backoff;
    this.probeIntervalNs = probeIntervalNs;
    this.log = log;
  }

  /** Whether a fetch from this peer may use the device. */
  boolean admits(String peerId, long nowNs) {
    if (state == State.CLOSED || (state == State.PROBING && peerId.equals(probe))) {
      return true;
    }
    if (nowNs - nextProbeNs < 0) {
      return false;
    }
    state = State.PROBING;
    probe = peerId;
    nextProbeNs = nowNs + probeIntervalNs;
    return true;
  }

  /** Whether it is not known yet if the device works again. */
  boolean isProbed() {
    return state == State.PROBING;
  }

  /** A connection to this peer failed, or could not be made. */
  void peerFailed(String peerId, long nowNs) {
    if (state == State.PROBING && peerId.equals(probe)) {
      open("the peer that probed it failed", nowNs);
    }
    if (state != State.CLOSED) {
      return;
    }
    if (failedPeers.isEmpty() || nowNs - firstFailureNs > SUSPICIOUS_NS) {
      failedPeers.clear();
      firstFailureNs = nowNs;
    }
    failedPeers.add(peerId);
    if (failedPeers.size() >= SUSPICIOUS_PEERS) {
      open(failedPeers.size() + " peers failed and none succeeded", nowNs);
    }
  }

  /** A try of this peer ended in a way that says nothing of the device: another may probe. */
  void inconclusive(String peerId, long nowNs) {
    if (state == State.PROBING && peerId.equals(probe)) {
      probe = null;
      nextProbeNs = nowNs;
    }
  }

  /** An answer or a READ arrived. */
  void succeeded() {
    if (state == State.CLOSED && failedPeers.isEmpty()) {
      return;
    }
    if (state == State.PROBING) {
      log.log(State.CLOSED, more -> LOG.info("The RDMA device works again{}", more));
      backoff.succeeded();
      state = State.CLOSED;
      probe = null;
    }
    failedPeers.clear();
  }

  /** The adapter reported that it, or its port, is down. */
  void deviceLost(String why, long nowNs) {
    open(why, nowNs);
  }

  /** The adapter reported that its port works: may be probed at once. */
  void deviceBack(long nowNs) {
    if (state != State.CLOSED) {
      nextProbeNs = nowNs;
    }
  }

  private void open(String why, long nowNs) {
    long restNs = backoff.failed();
    state = State.OPEN;
    probe = null;
    failedPeers.clear();
    nextProbeNs = nowNs + restNs;
    log.log(
        State.OPEN,
        more ->
            LOG.warn(
                "No fetch uses the RDMA device for {} ms, because {}; the engine's own shuffle"
                    + " serves all blocks{}",
                restNs / 1_000_000,
                why,
                more));
  }
}
