package io.rdmashuffle.mapreduce.reduce;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of what a reduce task decides. Hadoop's configuration of containers sends the loggers of
 * its own package, and no others, to {@code syslog.shuffle}.
 */
final class ReduceLog {
  private ReduceLog() {}

  static Logger logger() {
    return LoggerFactory.getLogger("org.apache.hadoop.mapreduce.task.reduce.RdmaShuffle");
  }
}
