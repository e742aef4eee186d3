package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import scala.Tuple2;

/**
 * A thousand reduce tasks that do not read to their end: a quarter takes one record, as {@code
 * limit} does; a quarter throws; a quarter is killed while it reads; a quarter leaves a thread
 * behind that reads on. Those that threw or were killed are repeated by Spark.
 */
final class Endings {
  static final int TASKS = 1_000;
  static final String ON_PURPOSE = "thrown on purpose";
  private static final int MAPS = 4;
  private static final int RECORDS = 2;
  private static final int RECORD_BYTES = 6_000;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

  private enum Ending {
    EARLY,
    THROWING,
    KILLED,
    LATE_READER;

    static Ending of(int partition) {
      return values()[partition % values().length];
    }
  }

  private Endings() {}

  /** How many tasks gave the sum of all their records, and how many a part of them. */
  static String run(JavaSparkContext context) {
    Killer killer = new Killer(context.sc());
    context.sc().addSparkListener(killer);
    JavaPairRDD<Integer, byte[]> shuffled =
        context
            .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
            .flatMapToPair(Endings::records)
            .partitionBy(new HashPartitioner(TASKS));
    List<String> outcomes = shuffled.mapPartitionsWithIndex(Endings::end, true).collect();
    context.sc().removeSparkListener(killer);
    shuffled.rdd().cleanShuffleDependencies(true);
    long whole = outcomes.stream().filter("whole"::equals).count();
    long part = outcomes.stream().filter("part"::equals).count();
    return whole + " whole, " + part + " in part, " + (outcomes.size() - whole - part) + " wrong";
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(int map) {
    List<Tuple2<Integer, byte[]>> records = new ArrayList<>();
    for (int partition = 0; partition < TASKS; partition++) {
      for (int i = 0; i < RECORDS; i++) {
        records.add(new Tuple2<>(partition, Record.of(seed(map, partition, i), RECORD_BYTES)));
      }
    }
    return records.iterator();
  }

  private static long seed(int map, int partition, int i) {
    return ((long) map * TASKS + partition) * RECORDS + i;
  }

  private static Iterator<String> end(int partition, Iterator<Tuple2<Integer, byte[]>> records)
      throws InterruptedException {
    Ending ending = Ending.of(partition);
    boolean isFirst = TaskContext.get().attemptNumber() == 0;
    if (isFirst && ending == Ending.LATE_READER) {
      LateReader.start(records);
      return List.of("part").iterator();
    }
    if (isFirst || ending == Ending.EARLY) {
      boolean right = Record.isRight(records.next()._2());
      if (ending == Ending.THROWING) {
        throw new IllegalStateException(ON_PURPOSE);
      }
      if (ending == Ending.KILLED) {
        awaitDeath();
      }
      return List.of(right ? "part" : "wrong").iterator();
    }
    return List.of(readAll(partition, records)).iterator();
  }

  private static void awaitDeath() {
    long deadlineNs = System.nanoTime() + PATIENCE_NS;
    while (!TaskContext.get().isInterrupted() && System.nanoTime() < deadlineNs) {
      LockSupport.parkNanos(100_000);
    }
  }

  private static String readAll(int partition, Iterator<Tuple2<Integer, byte[]>> records) {
    long sum = 0;
    while (records.hasNext()) {
      sum += Record.seed(records.next()._2());
    }
    long expected = 0;
    for (int map = 0; map < MAPS; map++) {
      for (int i = 0; i < RECORDS; i++) {
        expected += seed(map, partition, i);
      }
    }
    return sum == expected ? "whole" : "wrong";
  }

  /** Kills what is to be killed as soon as it has started. */
  private static final class Killer extends SparkListener {
    private final SparkContext context;
    private volatile int reducers = -1;

    Killer(SparkContext context) {
      this.context = context;
    }

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted stage) {
      if (stage.stageInfo().numTasks() == TASKS) {
        reducers = stage.stageInfo().stageId();
      }
    }

    @Override
    public void onTaskStart(SparkListenerTaskStart start) {
      if (start.stageId() == reducers
          && start.taskInfo().attemptNumber() == 0
          && Ending.of(start.taskInfo().partitionId()) == Ending.KILLED) {
        context.killTaskAttempt(start.taskInfo().taskId(), true, ON_PURPOSE);
      }
    }
  }
}
