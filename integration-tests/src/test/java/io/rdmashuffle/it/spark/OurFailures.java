package io.rdmashuffle.it.spark;

import java.util.regex.Pattern;

/** Tells task failures that RDMA caused from those that Spark or a test did. */
final class OurFailures {
  private static final String OURS = "io\\.rdmashuffle\\.(spark|core|transport)\\.";

  /** One of our exceptions, or one of the JDK's that our code threw: its first frame is ours. */
  private static final Pattern CAUSED_BY_US =
      Pattern.compile(OURS + "[\\w.]*(Exception|Error)|(?m)^(?!\\s+at ).*\\R\\s+at " + OURS);

  private OurFailures() {}

  static boolean isOurs(String failure) {
    return CAUSED_BY_US.matcher(failure).find();
  }
}
