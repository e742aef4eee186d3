package io.rdmashuffle.benchmarks.workload;

import org.apache.spark.sql.SparkSession;

/** One job with a result that two shuffles must agree on. Stateless; runs in the driver. */
public interface Workload {
  /** Short and unique, as it appears in reports. */
  String name();

  /**
   * Runs it once.
   *
   * @return a digest of the whole result, equal for equal results whatever their order
   * @throws IllegalStateException if the result contradicts itself, a sort that is not sorted for
   *     instance
   */
  String run(SparkSession spark) throws Exception;
}
