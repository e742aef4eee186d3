package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.mapreduce.reduce.Segment;
import io.rdmashuffle.mapreduce.reduce.SegmentLostException;
import io.rdmashuffle.transport.FallbackReason;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.security.IntermediateEncryptedStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes segments into Hadoop's merge manager as its own fetcher does: decrypted, checked against
 * their CRC, decompressed. What is wrong with a segment is never held against its map or host here;
 * HTTP fetches it again, and judges. One fetcher's.
 */
final class SegmentCopier<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCopier.class);

  private final CopyParts<K, V> parts;
  private final JobConf conf;
  private final ReduceSession session;
  private final int fetcherId;

  /** What became of a segment. */
  enum Outcome {
    COPIED,
    /** The merge manager has no room now. */
    WAIT,
    /** This node's disk failed, which ends the attempt. */
    LOCAL_ERROR,
    /** It has to come by HTTP. */
    NOT_BY_RDMA
  }

  SegmentCopier(CopyParts<K, V> parts, int fetcherId) {
    this.parts = parts;
    this.conf = parts.context().getJobConf();
    this.session = parts.session();
    this.fetcherId = fetcherId;
  }

  /**
   * @throws SegmentLostException if the segment, and with it perhaps the host, stopped delivering
   */
  Outcome copy(MapHost host, Segment segment) throws SegmentLostException {
    long startMs = nowMs();
    try {
      int padding = CryptoUtils.cryptoPadding(conf);
      long partBytes = segment.partBytes() - padding;
      long rawBytes = segment.rawBytes() - padding;
      if (partBytes < 0 || rawBytes < 0) {
        throw new IOException("lengths " + segment.partBytes() + " and " + segment.rawBytes());
      }
      // Reads the initialisation vector, if intermediate data is encrypted.
      InputStream in =
          IntermediateEncryptedStream.wrapIfNecessary(
              conf, segment.stream(), segment.partBytes(), null);
      return reserve(host, segment, new Decrypted(in, partBytes, rawBytes, startMs));
    } catch (InternalError | LinkageError | Exception e) {
      return notByRdma(host, segment, e);
    }
  }

  /** A segment without what encryption adds to it. */
  private record Decrypted(InputStream in, long partBytes, long rawBytes, long startMs) {}

  private Outcome reserve(MapHost host, Segment segment, Decrypted plain) throws IOException {
    MapOutput<K, V> output;
    try {
      output = parts.merger().reserve(segment.attempt(), plain.rawBytes(), fetcherId);
    } catch (IOException e) {
      parts.scheduler().reportLocalError(e);
      return Outcome.LOCAL_ERROR;
    }
    if (output == null) {
      return Outcome.WAIT;
    }
    boolean settled = false;
    try {
      output.shuffle(
          host,
          plain.in(),
          plain.partBytes(),
          plain.rawBytes(),
          parts.metrics(),
          parts.context().getReporter());
      settled = commit(host, segment, plain, output);
      return Outcome.COPIED;
    } catch (FSError e) { // the local file system, when writing fails
      parts.scheduler().reportLocalError(new IOException(e));
      return Outcome.LOCAL_ERROR;
    } finally {
      if (!settled) {
        output.abort();
      }
    }
  }

  /** Hands it over. A map that another attempt has finished counts for that attempt. */
  private boolean commit(MapHost host, Segment segment, Decrypted plain, MapOutput<K, V> output)
      throws IOException {
    long endMs = nowMs();
    boolean counted;
    ShuffleSchedulerImpl<K, V> scheduler = parts.scheduler();
    synchronized (scheduler) { // as copySucceeded is: else others' outputs count in between
      long before = parts.context().getShuffledMapsCounter().getValue();
      scheduler.copySucceeded(
          segment.attempt(), host, plain.partBytes(), plain.startMs(), endMs, output);
      counted = parts.context().getShuffledMapsCounter().getValue() > before;
    }
    parts.metrics().successFetch();
    session.worked(host.getHostName());
    if (counted) {
      session.counters().segment(segment, plain.partBytes());
    }
    return true;
  }

  private Outcome notByRdma(MapHost host, Segment segment, Throwable cause)
      throws SegmentLostException {
    SegmentLostException lost = segment.stream().failure();
    if (lost != null) {
      session.refused(segment.attempt(), lost.reason());
      throw lost;
    }
    LOG.warn(
        "[{}] the output of {} that came by RDMA cannot be used; HTTP fetches it again",
        host,
        segment.attempt(),
        cause);
    if (cause instanceof ChecksumException || cause instanceof InternalError) {
      session.corrupt(host.getHostName(), segment.attempt());
    } else { // perhaps this node's own disk or libraries: not the host's fault
      session.refused(segment.attempt(), FallbackReason.CORRUPT_RETRY);
    }
    return Outcome.NOT_BY_RDMA;
  }

  /** On the clock that Hadoop's Time.monotonicNow() reads. */
  private long nowMs() {
    return parts.clock().nanoTime() / 1_000_000;
  }
}
