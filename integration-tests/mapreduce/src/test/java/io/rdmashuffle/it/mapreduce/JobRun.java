package io.rdmashuffle.it.mapreduce;

import java.util.Map;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;

/**
 * A job that succeeded.
 *
 * @param counts of words, as it wrote them
 * @param counters of the job
 * @param job for what else is known of it
 */
record JobRun(Map<String, Integer> counts, Counters counters, Job job) {
  /** A counter of ours. */
  long rdma(String name) {
    return counters.findCounter("RDMA Shuffle", name).getValue();
  }

  /** Segments that came by RDMA, however. */
  long segmentsByRdma() {
    return rdma("SEGMENTS_READ") + rdma("SEGMENTS_INLINE") + rdma("SEGMENTS_STAGED");
  }

  long segmentsByHttp() {
    return rdma("SEGMENTS_HTTP");
  }

  long hadoop(TaskCounter counter) {
    return counters.findCounter(counter).getValue();
  }
}
