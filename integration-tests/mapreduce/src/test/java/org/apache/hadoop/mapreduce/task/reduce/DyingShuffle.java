package org.apache.hadoop.mapreduce.task.reduce;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.hadoop.mapred.Reporter;

/** Ends the process of a reduce's first attempt in the middle of a segment that comes by RDMA. */
public final class DyingShuffle<K, V> extends FaultyShuffle<K, V> {
  private static final int EXIT = 9;

  @Override
  Context<K, V> spoil(Context<K, V> context) {
    return isFirstAttempt(context)
        ? replace(context, context.getReduceTask(), dying(context.getReporter()))
        : context;
  }

  /** Fetchers report progress after each 64 KiB that they write to disk. */
  private static Reporter dying(Reporter reporter) {
    return (Reporter)
        Proxy.newProxyInstance(
            DyingShuffle.class.getClassLoader(),
            new Class<?>[] {Reporter.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("progress")
                  && Thread.currentThread().getName().startsWith("rdma-fetcher")) {
                Runtime.getRuntime().halt(EXIT);
              }
              try {
                return method.invoke(reporter, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
