package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.DoublingPauses;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Which hosts are left to HTTP for a while: a time that doubles with each failure in a row. So a
 * host whose port nobody answers costs one wait now and then, not one per fetch.
 *
 * <p>Any thread. One entry per host that failed; there are as many as NodeManagers at most.
 */
final class HostHealth {
  private static final Logger LOG = ReduceLog.logger();

  /** Segments with wrong bytes in a row that a host may deliver before it counts as failed. */
  private static final int CORRUPT_SEGMENTS = 3;

  private final NanoClock clock;
  private final DoublingPauses pauses;
  private final Map<String, State> states = new ConcurrentHashMap<>();

  /**
   * @param minimum how long a host is left alone after its first failure
   * @param maximum longest such time
   */
  HostHealth(NanoClock clock, Duration minimum, Duration maximum) {
    this.clock = clock;
    this.pauses = new DoublingPauses(minimum.toNanos(), maximum.toNanos());
  }

  private record State(int failures, int corrupt, long httpUntilNs) {}

  /** Whether the host may be asked by RDMA. */
  boolean admits(String host) {
    State state = states.get(host);
    return state == null || state.failures() == 0 || state.httpUntilNs() - clock.nanoTime() <= 0;
  }

  /** This task found the host at fault. */
  void failed(String host, String why) {
    LOG.warn("[{}] serves map outputs by HTTP for {} ms: {}", host, rest(host) / 1_000_000, why);
  }

  /** The transport did, and has told why and for how long it leaves the host alone. */
  void leftByTransport(String host, FallbackReason reason) {
    if (reason == FallbackReason.BREAKER_OPEN) {
      awaitBreaker(host);
    } else {
      LOG.debug("[{}] serves map outputs by HTTP for {} ms", host, rest(host) / 1_000_000);
    }
  }

  /** Returns for how long, in nanoseconds. */
  private long rest(String host) {
    long nowNs = clock.nanoTime();
    State state =
        states.compute(
            host,
            (h, old) -> {
              int failures = old == null ? 1 : old.failures() + 1;
              return new State(failures, 0, nowNs + pauses.afterNs(failures));
            });
    return state.httpUntilNs() - nowNs;
  }

  /** The transport's pauses are up to a quarter longer than ours; that is no further failure. */
  private void awaitBreaker(String host) {
    long untilNs = clock.nanoTime() + pauses.shortestNs() / 4;
    states.compute(
        host, (h, old) -> new State(old == null ? 1 : Math.max(1, old.failures()), 0, untilNs));
  }

  /** One of its segments had wrong bytes: perhaps its file is broken, perhaps the way. */
  void corrupt(String host) {
    State state =
        states.merge(
            host,
            new State(0, 1, clock.nanoTime()),
            (old, one) -> new State(old.failures(), old.corrupt() + 1, old.httpUntilNs()));
    if (state.corrupt() >= CORRUPT_SEGMENTS) {
      failed(host, state.corrupt() + " segments in a row were corrupt");
    }
  }

  /** A segment came and was right. */
  void worked(String host) {
    states.remove(host);
  }
}
