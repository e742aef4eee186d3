package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * RDMA in one reduce task: one transport for all its fetchers, and what they learn about hosts and
 * map outputs.
 *
 * <p>Any thread. Whoever opened it closes it; then every batch ends with reason STOPPING.
 */
public final class ReduceSession implements AutoCloseable {
  private final Parts parts;

  /** Map attempts that RDMA failed to deliver for a reason that stays. */
  private final Set<TaskAttemptID> httpOnly = ConcurrentHashMap.newKeySet();

  /**
   * What it is made of.
   *
   * @param client fetches pieces
   * @param closing closes the transport behind it; idempotent, waits with a deadline
   * @param peers what the client's discovery asks
   * @param rdmaPort where a NodeManager of a given HTTP port listens
   * @param keys names of this reducer's segments
   * @param limits of each batch
   * @param health which hosts to ask
   * @param counters of the job
   */
  record Parts(
      BlockClient client,
      Runnable closing,
      JobPeers peers,
      IntUnaryOperator rdmaPort,
      SegmentKeys keys,
      BatchLimits limits,
      HostHealth health,
      ShuffleCounters counters) {}

  ReduceSession(Parts parts) {
    this.parts = parts;
  }

  /** Whether a host may be asked now. */
  public boolean admits(String host) {
    return parts.health().admits(host);
  }

  /**
   * Starts to fetch map outputs of a host.
   *
   * @param baseUrl of the host's map outputs, as its completion events gave it
   * @return to be closed by the caller
   * @throws SegmentLostException if the host cannot even be addressed
   */
  public SegmentBatch open(String baseUrl, List<? extends TaskAttemptID> attempts)
      throws SegmentLostException {
    Peer peer;
    try {
      NodeAddress node = NodeAddress.of(baseUrl);
      peer = parts.peers().peer(node, parts.rdmaPort().applyAsInt(node.httpPort()));
    } catch (IllegalArgumentException e) { // no URL, or no port left above that of HTTP
      throw new SegmentLostException(FallbackReason.DISCOVERY_FAILED, e.getMessage());
    }
    return new SegmentBatch(parts.client(), peer, parts.keys(), parts.limits(), attempts);
  }

  /** The host is left to HTTP for a while. */
  public void failed(String host, SegmentLostException why) {
    parts.counters().hostFellBack(host, why.reason());
    if (why.isToldByTransport()) {
      parts.health().leftByTransport(host, why.reason());
    } else {
      parts.health().failed(host, why.getMessage());
    }
  }

  /** A segment of the host came and was right. */
  public void worked(String host) {
    parts.health().worked(host);
  }

  /** A segment came and was wrong. */
  public void corrupt(String host, TaskAttemptID attempt) {
    httpOnly.add(attempt);
    parts.health().corrupt(host);
  }

  /** A segment does not come by RDMA; unless the reason passes, it is not asked for again. */
  public void refused(TaskAttemptID attempt, FallbackReason reason) {
    if (!Reasons.passes(reason)) {
      httpOnly.add(attempt);
    }
  }

  /** Whether a map output is not to be asked for by RDMA again. */
  public boolean isHttpOnly(TaskAttemptID attempt) {
    return httpOnly.contains(attempt);
  }

  /** Whether a segment's failure concerns its whole host. */
  public static boolean concernsHost(SegmentLostException failure) {
    return Reasons.concernsHost(failure.reason());
  }

  /** Something unexpected, which must cost no more than a fallback. */
  public static SegmentLostException bug(Throwable cause) {
    SegmentLostException lost =
        new SegmentLostException(FallbackReason.TRANSFER_FAILED, "unexpected: " + cause);
    lost.initCause(cause);
    return lost;
  }

  /** The job's. */
  public ShuffleCounters counters() {
    return parts.counters();
  }

  /** Idempotent. Each step has a deadline. */
  @Override
  public void close() {
    parts.closing().run();
  }
}
