package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block.Source;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;

/**
 * The job counters of group {@value #GROUP}: how many segments and bytes came which way, and how
 * many hosts were left to HTTP, by reason. A segment whose pieces came in several ways counts as
 * staged if any was, else as read; bytes count as they came.
 *
 * <p>Any thread. Never fails: where the job has as many counters as it may, the rest is not
 * counted.
 */
public final class ShuffleCounters {
  /** As users see it. */
  public static final String GROUP = "RDMA Shuffle";

  /** Hosts that did not deliver by RDMA; with {@code .reason} behind it, those for that reason. */
  public static final String HOSTS_FALLEN_BACK = "HOSTS_FALLEN_BACK";

  /** Reduce tasks that used Hadoop's own shuffle for everything. */
  public static final String TASKS_WITHOUT_RDMA = "TASKS_WITHOUT_RDMA";

  private static final Logger LOG = ReduceLog.logger();

  private final Sink sink;
  private final LongAdder rdmaSegments = new LongAdder();
  private final LongAdder rdmaBytes = new LongAdder();
  private final Set<String> fallenBack = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean broken = new AtomicBoolean();

  /** Where counts go. Any thread. */
  @FunctionalInterface
  public interface Sink {
    void add(String name, long count);
  }

  public ShuffleCounters(Sink sink) {
    this.sink = sink;
  }

  /**
   * A segment came by RDMA and was wanted.
   *
   * @param countedBytes what Hadoop's own counter of shuffled bytes counts for it
   */
  public void segment(Segment segment, long countedBytes) {
    Map<Source, Long> bytes = segment.stream().bytesBySource();
    Source way = Source.INLINE;
    if (bytes.containsKey(Source.STAGED)) {
      way = Source.STAGED;
    } else if (bytes.containsKey(Source.READ)) {
      way = Source.READ;
    }
    rdmaSegments.increment();
    rdmaBytes.add(countedBytes);
    add("SEGMENTS_" + way, 1);
    bytes.forEach((source, count) -> add("BYTES_" + source, count));
  }

  /**
   * What Hadoop counts less what came by RDMA came by HTTP. Once, at the end.
   *
   * @param segments of the whole task
   * @param bytes of the whole task
   */
  public void finish(long segments, long bytes) {
    add("SEGMENTS_HTTP", segments - rdmaSegments.sum());
    add("BYTES_HTTP", bytes - rdmaBytes.sum());
  }

  /** Counts each host once, and once per reason. */
  void hostFellBack(String host, FallbackReason reason) {
    if (fallenBack.add(host)) {
      add(HOSTS_FALLEN_BACK, 1);
    }
    if (fallenBack.add(host + " " + reason)) {
      add(HOSTS_FALLEN_BACK + "." + reason.label().toLowerCase(Locale.ROOT), 1);
    }
  }

  /** This task uses Hadoop's own shuffle throughout. */
  public void taskWithoutRdma() {
    add(TASKS_WITHOUT_RDMA, 1);
  }

  private void add(String name, long count) {
    if (count <= 0) {
      return;
    }
    try {
      sink.add(name, count);
    } catch (RuntimeException e) { // LimitExceededException: mapreduce.job.counters.max
      if (broken.compareAndSet(false, true)) {
        LOG.warn("counter {} of group {} cannot be counted: {}", name, GROUP, e.toString());
      }
    }
  }
}
