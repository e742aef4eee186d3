package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.Arrival;
import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.mapreduce.reduce.Segment;
import io.rdmashuffle.mapreduce.reduce.SegmentBatch;
import io.rdmashuffle.mapreduce.reduce.SegmentLostException;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * Hadoop's fetcher, which tries RDMA first. What RDMA does not deliver is fetched by Hadoop's own
 * code in the same turn, before anybody hears of it: only HTTP judges maps and hosts.
 *
 * <p>Overrides {@code copyFromHost} and {@code interrupt} alone: the loop around them is {@code
 * run()} in one Hadoop version and {@code work()} in another, and final in a third.
 */
final class RdmaFetcher<K, V> extends Fetcher<K, V> {
  private final ReduceSession session;
  private final SegmentCopier<K, V> copier;
  private volatile SegmentBatch current;
  private volatile boolean stopping;

  /** What is to happen to the maps that a try by RDMA left over. */
  private enum Next {
    HTTP,
    /** They wait for their next turn. */
    LATER
  }

  RdmaFetcher(CopyParts<K, V> parts) {
    super(
        parts.context().getJobConf(),
        parts.context().getReduceId(),
        parts.scheduler(),
        parts.merger(),
        parts.context().getReporter(),
        parts.metrics(),
        parts.errors(),
        parts.context().getReduceTask().getShuffleSecret());
    this.session = parts.session();
    this.copier = new SegmentCopier<>(parts, id);
    setName("rdma-fetcher#" + id);
  }

  /** Whoever interrupts a fetcher wants it to end: ends waiting for RDMA, too. */
  @Override
  public void interrupt() {
    stopping = true;
    SegmentBatch batch = current;
    if (batch != null) {
      batch.cancel();
    }
    super.interrupt();
  }

  /** What this throws kills the attempt: nothing about RDMA does. */
  @Override
  protected void copyFromHost(MapHost host) throws IOException {
    if (!session.admits(host.getHostName())) {
      super.copyFromHost(host);
      return;
    }
    List<TaskAttemptID> maps = scheduler.getMapsForHost(host);
    Set<TaskAttemptID> left = new LinkedHashSet<>(maps);
    Next next = Next.LATER;
    try {
      next = copyByRdma(host, left);
    } finally {
      if (next == Next.LATER) {
        putBack(host, left);
      }
    }
    if (next == Next.HTTP) {
      copyByHttp(host, left);
    }
  }

  /** Takes what it copied out of {@code left}. */
  private Next copyByRdma(MapHost host, Set<TaskAttemptID> left) {
    List<TaskAttemptID> wanted =
        left.stream().filter(attempt -> !session.isHttpOnly(attempt)).toList();
    if (wanted.isEmpty()) {
      return left.isEmpty() ? Next.LATER : Next.HTTP;
    }
    try (SegmentBatch batch = session.open(host.getBaseUrl(), wanted)) {
      current = batch;
      return stopping ? Next.LATER : copyAll(host, batch, left);
    } catch (SegmentLostException e) {
      return lost(host, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Next.LATER;
    } catch (RuntimeException | LinkageError e) {
      return lost(host, ReduceSession.bug(e));
    } finally {
      current = null;
    }
  }

  private Next copyAll(MapHost host, SegmentBatch batch, Set<TaskAttemptID> left)
      throws SegmentLostException, InterruptedException {
    for (Optional<Arrival> arrival = batch.next(); arrival.isPresent(); arrival = batch.next()) {
      if (arrival.get() instanceof Arrival.Refused refused) {
        session.refused(refused.attempt(), refused.reason());
      } else if (arrival.get() instanceof Segment segment) {
        SegmentCopier.Outcome outcome = copy(host, segment);
        if (outcome == SegmentCopier.Outcome.COPIED) {
          left.remove(segment.attempt());
        } else if (outcome != SegmentCopier.Outcome.NOT_BY_RDMA) {
          return Next.LATER;
        }
      }
    }
    return left.isEmpty() ? Next.LATER : Next.HTTP;
  }

  private SegmentCopier.Outcome copy(MapHost host, Segment segment) throws SegmentLostException {
    try {
      return copier.copy(host, segment);
    } catch (SegmentLostException e) {
      if (ReduceSession.concernsHost(e)) {
        throw e;
      }
      return SegmentCopier.Outcome.NOT_BY_RDMA;
    }
  }

  private Next lost(MapHost host, SegmentLostException e) {
    if (stopping) {
      return Next.LATER;
    }
    session.failed(host.getHostName(), e);
    return Next.HTTP;
  }

  /**
   * By Hadoop's own code, and these maps only: it fails all maps of a request together, so that
   * those RDMA could still fetch must not be among them.
   */
  private void copyByHttp(MapHost host, Set<TaskAttemptID> maps) throws IOException {
    List<TaskAttemptID> others = host.getAndClearKnownMaps();
    putBack(host, maps);
    try {
      super.copyFromHost(host);
    } finally {
      putBack(host, others);
    }
  }

  private void putBack(MapHost host, Iterable<TaskAttemptID> maps) {
    for (TaskAttemptID map : maps) {
      scheduler.putBackKnownMapOutput(host, map);
    }
  }
}
