package io.rdmashuffle.it.app;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/** Collects why tasks failed, as Spark's task end events say. */
final class TaskFailures extends SparkListener {
  private final Queue<String> texts = new ConcurrentLinkedQueue<>();
  private final AtomicLong speculative = new AtomicLong();

  @Override
  public void onTaskStart(SparkListenerTaskStart start) {
    if (start.taskInfo().speculative()) {
      speculative.incrementAndGet();
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (!end.reason().equals(Success$.MODULE$)) {
      texts.add(end.reason().toString());
    }
  }

  /** Attempts that Spark started because others were slow. */
  long speculative() {
    return speculative.get();
  }

  List<String> texts() {
    return List.copyOf(texts);
  }
}
