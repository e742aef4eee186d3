package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.ExecutorReports;
import io.rdmashuffle.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Runs jobs in random order for a time, while a test does things to its executors, and compares
 * each result with what it is known to be, or with what the same job gave first. Prints {@code JOB
 * n} before each, and {@code QUIET} when it is about to look at the executors and wants them left
 * alone. Arguments: the file to write, the number of executors, seconds, a seed.
 */
public final class SoakApplication {
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(90);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final SparkSession spark;
  private final int executors;
  private final Random random;
  private final SoakResult result = new SoakResult();
  private final Map<String, String> expected = new HashMap<>();
  private final List<Workload> jobs = new ArrayList<>();

  private SoakApplication(SparkSession spark, int executors, long seed) {
    this.spark = spark;
    this.executors = executors;
    this.random = new Random(seed);
    jobs.addAll(RddJobs.all());
    jobs.add(new SqlJob());
    Readers readers = new Readers(12);
    for (Workload job : readers.jobs()) {
      jobs.add(job);
      expected.put(job.name(), readers.expected(job.name()));
    }
  }

  public static void main(String[] arguments) throws Exception {
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      SoakApplication soak =
          new SoakApplication(spark, Integer.parseInt(arguments[1]), Long.parseLong(arguments[3]));
      soak.run(TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2])));
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), soak.result);
    } finally {
      spark.stop();
    }
  }

  private void run(long durationNs) throws Exception {
    TaskFailures failures = new TaskFailures();
    spark.sparkContext().addSparkListener(failures);
    long endNs = System.nanoTime() + durationNs;
    while (System.nanoTime() < endNs) {
      runOne(jobs.get(random.nextInt(jobs.size())));
    }
    System.out.println("QUIET");
    result.after = atRest();
    System.out.println("after: " + result.after);
    result.blocksByRdma =
        ExecutorReports.collect(spark, executors).blocks().entrySet().stream()
            .filter(way -> !way.getKey().equals("netty"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    spark.sparkContext().listenerBus().waitUntilEmpty(30_000);
    result.failures.addAll(failures.texts());
  }

  private void runOne(Workload job) throws Exception {
    System.out.println("JOB " + result.jobs++ + " " + job.name());
    String digest = job.run(spark);
    String right = expected.putIfAbsent(job.name(), digest);
    if (right != null && !right.equals(digest)) {
      result.wrong.add(job.name() + " gave " + digest + " instead of " + right);
    }
    System.gc(); // Spark forgets shuffles when the driver's objects of them are collected
  }

  /**
   * The executors once all are there and nothing of a shuffle is left in them, or after a while.
   */
  private List<ExecutorState> atRest() {
    long deadlineNs = System.nanoTime() + REST_NS;
    while (true) {
      System.gc();
      boolean allThere =
          JavaSparkContext.fromSparkContext(spark.sparkContext())
                  .sc()
                  .statusTracker()
                  .getExecutorInfos()
                  .length
              > executors; // the driver is one of them
      List<ExecutorState> states = allThere ? ExecutorState.collect(spark, executors) : List.of();
      boolean quiet = allThere && states.stream().allMatch(ExecutorState::isAtRest);
      if (quiet || System.nanoTime() > deadlineNs) {
        return states;
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }
}
