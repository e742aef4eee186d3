package io.rdmashuffle.mapreduce;

import java.util.Locale;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * Names of jobs and map attempts as every host writes them. Hadoop's own {@code toString} prints
 * the digits of the JVM's language: Arabic ones under ar-EG.
 */
public final class HadoopNames {
  private HadoopNames() {}

  /** {@code job_1700000000000_0007}. */
  public static String of(JobID job) {
    return "job_" + middle(job);
  }

  /** {@code attempt_1700000000000_0007_m_000003_0}. */
  public static String ofMap(TaskAttemptID attempt) {
    return String.format(
        Locale.ROOT,
        "attempt_%s_m_%06d_%d",
        middle(attempt.getJobID()),
        attempt.getTaskID().getId(),
        attempt.getId());
  }

  private static String middle(JobID job) {
    return String.format(Locale.ROOT, "%s_%04d", job.getJtIdentifier(), job.getId());
  }
}
