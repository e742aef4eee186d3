package io.rdmashuffle.mapreduce.nm;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationId;

/**
 * The indices that were asked for last, within a bound. What falls out is read again.
 *
 * <p><b>Threads:</b> any; locked for the time of a look-up, as the progress thread looks here.
 */
final class IndexCache {
  private final long maxBytes;
  private final Map<Output, SegmentIndex> indices = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * A map attempt's output.
   *
   * @param application of the job
   * @param number as block keys have it
   */
  private record Output(ApplicationId application, long number) {
    /**
     * Numbers of attempts of one job differ in their upper bits, which a HashMap hardly looks at.
     */
    @Override
    public int hashCode() {
      return application.hashCode() ^ (int) ((number * 0x9E37_79B9_7F4A_7C15L) >>> 32);
    }
  }

  IndexCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns null if it is not here. */
  synchronized SegmentIndex find(Job job, long output) {
    return indices.get(new Output(job.application(), output));
  }

  /** Keeps it until others push it out; one that is too large pushes out everything. */
  synchronized void put(Job job, long output, SegmentIndex index) {
    SegmentIndex before = indices.put(new Output(job.application(), output), index);
    bytes += index.heapBytes() - (before == null ? 0 : before.heapBytes());
    Iterator<SegmentIndex> oldestFirst = indices.values().iterator();
    while (bytes > maxBytes && oldestFirst.hasNext()) {
      bytes -= oldestFirst.next().heapBytes();
      oldestFirst.remove();
    }
  }

  synchronized void forget(Job job) {
    Iterator<Map.Entry<Output, SegmentIndex>> all = indices.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Output, SegmentIndex> entry = all.next();
      if (entry.getKey().application().equals(job.application())) {
        bytes -= entry.getValue().heapBytes();
        all.remove();
      }
    }
  }

  synchronized long bytes() {
    return bytes;
  }
}
