package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * Takes the adapter away from a reduce task when it has its first segment. The task learns of the
 * other maps once its adapter is closed. The environment names the file that faults are taken from.
 */
public final class LostAdapterShuffle<K, V> extends FaultyShuffle<K, V> {
  /** The task's log tells that it is closed, and what could not be. */
  public static final String CLOSED = "RDMA closed, left behind";

  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int MOST_EVENTS = 2; // the third parameter of getMapCompletionEvents

  private int asked; // by the one thread that asks

  @Override
  Context<K, V> spoil(Context<K, V> context) {
    TaskUmbilicalProtocol real = context.getUmbilical();
    TaskUmbilicalProtocol spoilt =
        (TaskUmbilicalProtocol)
            Proxy.newProxyInstance(
                LostAdapterShuffle.class.getClassLoader(),
                new Class<?>[] {TaskUmbilicalProtocol.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("getMapCompletionEvents")) {
                    beforeEvents(context, arguments);
                  }
                  return invoke(real, method, arguments);
                });
    return replace(context, context.getReduceTask(), context.getReporter(), spoilt);
  }

  private void beforeEvents(Context<K, V> context, Object[] arguments) throws Exception {
    asked++;
    if (asked == 1) {
      arguments[MOST_EVENTS] = 1;
    } else if (asked == 2) {
      await("the first segment", () -> context.getShuffledMapsCounter().getCounter() > 0);
      lose();
    }
  }

  private static void lose() throws Exception {
    String pid = String.valueOf(ProcessHandle.current().pid());
    Path faults = Path.of(System.getenv("SOFTHCA_FAULTS_FILE").replace("%p", pid));
    Path unfinished = Path.of(faults + ".new");
    Files.writeString(unfinished, "lost\n");
    Files.move(unfinished, faults);
    Path log = Path.of(System.getProperty("yarn.app.container.log.dir"), "syslog");
    await(CLOSED, () -> Files.readString(log).contains(CLOSED));
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!condition.call()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new IOException("waited without effect for " + what);
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
