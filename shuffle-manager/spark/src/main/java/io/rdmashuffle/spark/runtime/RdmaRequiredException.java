package io.rdmashuffle.spark.runtime;

/** The mode is {@code required} and this process has no RDMA: the task that asked must fail. */
public final class RdmaRequiredException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RdmaRequiredException(String message) {
    super(message);
  }
}
