package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.workload.JobRunner;
import io.rdmashuffle.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Does to the memory of the executors what jobs do to it: several readers per task over more than
 * their pool, a thousand tasks that end early, a hundred shuffles that come and go. Arguments: the
 * file to write, the number of executors, megabytes per side of the joins.
 */
public final class MemoryApplication {
  private static final int SHUFFLES = 100;
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private MemoryApplication() {}

  public static void main(String[] arguments) throws Exception {
    int executors = Integer.parseInt(arguments[1]);
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
      TaskFailures failures = new TaskFailures();
      spark.sparkContext().addSparkListener(failures);
      MemoryResult result = new MemoryResult();

      Readers readers = new Readers(Integer.parseInt(arguments[2]));
      List<Workload> jobs = readers.jobs();
      jobs.forEach(job -> result.expected.put(job.name(), readers.expected(job.name())));
      result.readers = new JobRunner(spark, executors).run(jobs, System.out::println);
      shuffleOften(context, 5); // everything that is loaded once is loaded now
      result.before = atRest(spark, executors);
      System.out.println("before: " + result.before);

      result.endings = Endings.run(context);
      System.out.println("endings: " + result.endings);
      shuffleOften(context, SHUFFLES);
      result.after = atRest(spark, executors);
      System.out.println("after: " + result.after);

      spark.sparkContext().listenerBus().waitUntilEmpty(30_000);
      for (String failure : failures.texts()) {
        if (failure.contains(Endings.ON_PURPOSE)) {
          result.failuresOnPurpose++;
        } else {
          result.unexpectedFailures.add(failure);
        }
      }
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), result);
    } finally {
      spark.stop();
    }
  }

  /** Small shuffles, each gone before the next begins. */
  private static void shuffleOften(JavaSparkContext context, int times) {
    for (int i = 0; i < times; i++) {
      JavaPairRDD<Integer, byte[]> shuffled =
          context
              .parallelize(IntStream.range(0, 4).boxed().toList(), 2)
              .mapToPair(x -> new Tuple2<>(x, Record.of(x, 90_000)))
              .partitionBy(new HashPartitioner(4));
      long sum = shuffled.values().map(Record::seed).reduce(Long::sum);
      if (sum != 6) {
        throw new IllegalStateException("shuffle " + i + " gave " + sum);
      }
      shuffled.rdd().cleanShuffleDependencies(true);
    }
  }

  /** The executors once nothing of a shuffle is left in them, or as they are after a minute. */
  private static List<ExecutorState> atRest(SparkSession spark, int executors) {
    long deadlineNs = System.nanoTime() + REST_NS;
    while (true) {
      System.gc(); // Spark forgets a shuffle when the driver's objects of it are collected
      List<ExecutorState> states = ExecutorState.collect(spark, executors);
      if (states.stream().allMatch(ExecutorState::isAtRest) || System.nanoTime() > deadlineNs) {
        return states;
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }
}
