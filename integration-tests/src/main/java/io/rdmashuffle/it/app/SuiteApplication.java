package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.workload.JobRunner;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * Runs jobs and writes a {@link RunResult}. Arguments: the file to write, the number of executors,
 * the names of the jobs, or none for all.
 */
public final class SuiteApplication {
  private SuiteApplication() {}

  /** What those jobs give that only move records about, by name; found without Spark. */
  public static Map<String, String> resultsOfMoves() {
    return RddJobs.resultsOfMoves();
  }

  public static void main(String[] arguments) throws Exception {
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      List<Workload> jobs = RddJobs.all();
      jobs.add(new SqlJob());
      List<String> wanted = List.of(arguments).subList(2, arguments.length);
      jobs.removeIf(job -> !wanted.isEmpty() && !wanted.contains(job.name()));
      RunResult result =
          new JobRunner(spark, Integer.parseInt(arguments[1])).run(jobs, System.out::println);
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), result);
    } finally {
      spark.stop();
    }
  }
}
