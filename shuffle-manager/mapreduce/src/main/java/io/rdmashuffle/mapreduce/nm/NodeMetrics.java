package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.OwnerTransport;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsException;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a NodeManager's RDMA does, beside the {@code ShuffleMetrics} of HTTP: record {@code
 * RdmaShuffleMetrics}, context {@code mapred}. {@code RdmaUp} is 0 where it does nothing; the tag
 * {@code RdmaProblem} says why.
 *
 * <p><b>Threads:</b> any. Whoever registers it closes it.
 */
final class NodeMetrics implements MetricsSource, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMetrics.class);
  private static final String NAME = "RdmaShuffleMetrics";
  private static final List<Counter> TOTALS =
      List.of(
          Counter.OWNER_BLOCKS_WINDOW,
          Counter.OWNER_BLOCKS_STAGED,
          Counter.OWNER_BLOCKS_INLINE,
          Counter.OWNER_BLOCKS_REFUSED,
          Counter.CONNECTIONS_OPENED,
          Counter.CONNECTIONS_REFUSED,
          Counter.CONNECTIONS_FAILED,
          Counter.SESSIONS_EXPIRED,
          Counter.FRAMES_REJECTED,
          Counter.REGISTRATIONS,
          Counter.REGISTRATIONS_FAILED,
          Counter.WINDOWS_EVICTED,
          Counter.LEASES_REVOKED);

  private final MetricsSystem system;
  private final Status status;
  private boolean registered;

  /** What there is to tell. */
  interface Status {
    /** Null if readers cannot connect. */
    OwnerTransport transport();

    /** Why they cannot; empty if they can. */
    String problem();

    int jobs();
  }

  private NodeMetrics(MetricsSystem system, Status status) {
    this.system = system;
    this.status = status;
  }

  /** Where that cannot be, as with several NodeManagers in one process, there are no metrics. */
  static NodeMetrics register(MetricsSystem system, Status status) {
    NodeMetrics metrics = new NodeMetrics(system, status);
    try {
      system.register(NAME, "Shuffle over RDMA", metrics);
      metrics.registered = true;
    } catch (MetricsException e) {
      LOG.warn("No metrics of the shuffle over RDMA: {}", e.toString());
    }
    return metrics;
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    MetricsRecordBuilder record = collector.addRecord(NAME).setContext("mapred");
    OwnerTransport transport = status.transport();
    record.tag(Interns.info("RdmaProblem", "Why RDMA serves nothing"), status.problem());
    record.addGauge(
        Interns.info("RdmaUp", "Whether reducers can connect"), transport == null ? 0 : 1);
    record.addGauge(Interns.info("RdmaJobs", "Jobs with containers here"), status.jobs());
    if (transport == null) {
      return;
    }
    for (Counter total : TOTALS) {
      record.addCounter(
          Interns.info(name(total.label()), total.label()), transport.counters().value(total));
    }
    transport
        .levels()
        .forEach((label, value) -> record.addGauge(Interns.info(name(label), label), value));
  }

  /** {@code owner.blocks.window} becomes {@code OwnerBlocksWindow}, as Hadoop names metrics. */
  private static String name(String label) {
    StringBuilder name = new StringBuilder();
    for (String word : label.split("[.-]")) {
      name.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
    }
    return name.toString();
  }

  /** Idempotent. */
  @Override
  public void close() {
    if (registered) {
      registered = false;
      system.unregisterSource(NAME);
    }
  }
}
