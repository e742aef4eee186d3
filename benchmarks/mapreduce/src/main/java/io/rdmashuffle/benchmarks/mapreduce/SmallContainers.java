package io.rdmashuffle.benchmarks.mapreduce;

import org.apache.hadoop.conf.Configuration;

/** Settings with which a whole job fits a small machine. */
public final class SmallContainers {
  /** Cheaper for processes that live for seconds. */
  private static final String SHORT_LIVED = " -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

  /** The AM of Hadoop 3.3 needs it on Java 17; later ones do not mind. */
  private static final String OPENS = " --add-opens=java.base/java.lang=ALL-UNNAMED";

  private SmallContainers() {}

  /** Sets the job's. */
  public static void set(Configuration job) {
    job.setInt("yarn.app.mapreduce.am.resource.mb", 512);
    job.set("yarn.app.mapreduce.am.command-opts", "-Xmx300m" + SHORT_LIVED + OPENS);
    job.setInt("mapreduce.map.memory.mb", 384);
    job.set("mapreduce.map.java.opts", "-Xmx200m" + SHORT_LIVED);
    job.setInt("mapreduce.reduce.memory.mb", 512);
    job.set("mapreduce.reduce.java.opts", "-Xmx256m" + SHORT_LIVED);
    job.setInt("mapreduce.task.io.sort.mb", 32);
  }
}
