package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * The map outputs of the jobs on this NodeManager. The scope of a request is the credential of the
 * job whose reducer asks; of other jobs it cannot learn anything.
 *
 * <p>An output keeps its identity for as long as its job, even when its index has fallen out of the
 * cache: what is registered of it is found again.
 *
 * <p><b>Threads:</b> any.
 */
final class JobCatalog implements BlockCatalog {
  /** Map outputs of one job on one node; those beyond come by HTTP. */
  private static final int MOST_OUTPUTS = 1 << 16;

  private final MapOutputLocator locator;
  private final IndexCache indices;
  private final Map<Long, Outputs> jobs = new ConcurrentHashMap<>();

  /** The outputs of a job that were asked for. */
  private record Outputs(Job job, Map<Long, OutputFile> files) {}

  JobCatalog(MapOutputLocator locator, IndexCache indices) {
    this.locator = locator;
    this.indices = indices;
  }

  /**
   * From now on the job's outputs are found.
   *
   * @return false if another job has the same credential id; that one keeps it
   */
  boolean add(Job job) {
    Outputs outputs = new Outputs(job, new ConcurrentHashMap<>());
    return jobs.putIfAbsent(job.credential().id(), outputs) == null;
  }

  /**
   * The job's outputs are not found any more. Idempotent.
   *
   * @return false if another job has the same credential id
   */
  boolean remove(Job job) {
    Outputs others =
        jobs.computeIfPresent(
            job.credential().id(), (id, outputs) -> outputs.job().isSameAs(job) ? null : outputs);
    indices.forget(job);
    return others == null;
  }

  /** Whether it was added, and is not removed yet. */
  boolean has(Job job) {
    return has(job.credential().id(), job);
  }

  private boolean has(long scope, Job job) {
    Outputs outputs = jobs.get(scope);
    return outputs != null && outputs.job().isSameAs(job);
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    Outputs outputs = jobs.get(scope);
    SegmentIndex index = outputs == null ? null : indices.find(outputs.job(), key.output());
    return index == null || !MapOutputKeys.namesSegment(key) ? null : locationOf(key, index);
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) throws IOException {
    Outputs outputs = jobs.get(scope);
    if (outputs == null || !MapOutputKeys.namesSegment(key)) {
      return null;
    }
    SegmentIndex index = indices.find(outputs.job(), key.output());
    if (index == null) {
      index = read(outputs, key);
      if (!has(scope, outputs.job())) { // it ended meanwhile
        indices.forget(outputs.job());
      }
    }
    return locationOf(key, index);
  }

  private static BlockLocation locationOf(BlockKey key, SegmentIndex index) {
    BlockLocation segment = index.segment(MapOutputKeys.reduceOf(key));
    return segment == null ? null : MapOutputKeys.locationOf(key, segment);
  }

  private SegmentIndex read(Outputs outputs, BlockKey key) throws IOException {
    TaskAttemptID attempt = MapOutputKeys.attemptOf(outputs.job().id(), key);
    SegmentIndex found = locator.locate(outputs.job(), attempt);
    OutputFile known = outputs.files().putIfAbsent(key.output(), found.file());
    SegmentIndex index = known == null ? found : found.in(known);
    if (outputs.files().size() > MOST_OUTPUTS) {
      outputs.files().remove(key.output());
      throw new IOException(outputs.job() + " has more than " + MOST_OUTPUTS + " map outputs here");
    }
    indices.put(outputs.job(), key.output(), index);
    return index;
  }
}
