package io.rdmashuffle.it.app;

import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import scala.Tuple2;

/**
 * A thread of user code that goes on reading a task's records after the task has ended, which users
 * must not do and do. It may be told that there is nothing more, get an exception, or wait for ever
 * in Spark's own queue; it must not see a wrong byte. Started in tasks; counts per process.
 */
final class LateReader implements Runnable {
  private static final Map<String, Long> OUTCOMES = new ConcurrentHashMap<>();
  private static final Queue<Thread> THREADS = new ConcurrentLinkedQueue<>();

  private final Iterator<Tuple2<Integer, byte[]>> records;
  private final CountDownLatch hasBegun = new CountDownLatch(1);

  private LateReader(Iterator<Tuple2<Integer, byte[]>> records) {
    this.records = records;
  }

  /** Returns once the thread has read its first record; the task may end then. */
  static void start(Iterator<Tuple2<Integer, byte[]>> records) throws InterruptedException {
    LateReader reader = new LateReader(records);
    Thread thread = new Thread(reader, "late-reader");
    thread.setDaemon(true);
    THREADS.add(thread);
    thread.start();
    reader.hasBegun.await();
  }

  @Override
  public void run() {
    try {
      while (records.hasNext()) {
        boolean right = Record.isRight(records.next()._2());
        count(right ? "right records" : "wrong records");
        hasBegun.countDown();
      }
      count("reached the end");
    } catch (Throwable e) { // whatever closed memory leads to inside Spark's deserializer
      count("threw");
    } finally {
      hasBegun.countDown();
    }
  }

  private static void count(String outcome) {
    OUTCOMES.merge(outcome, 1L, Long::sum);
  }

  /** So far; those still alive wait, and are interrupted. */
  static Map<String, Long> outcomes() {
    Map<String, Long> result = new TreeMap<>(OUTCOMES);
    result.put("alive", THREADS.stream().filter(Thread::isAlive).count());
    THREADS.forEach(Thread::interrupt);
    THREADS.removeIf(thread -> !thread.isAlive());
    return result;
  }
}
