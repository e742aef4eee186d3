package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.List;

/** What {@link SoakApplication} saw. A bean, for JSON. */
public final class SoakResult {
  public long jobs;

  /** Jobs whose result was not what it must be, with both. */
  public List<String> wrong = new ArrayList<>();

  /** Why tasks failed. */
  public List<String> failures = new ArrayList<>();

  /** The executors at the end, when they had come to rest. */
  public List<ExecutorState> after = new ArrayList<>();

  /** Remote blocks that came by RDMA, of the executors alive at the end. */
  public long blocksByRdma;
}
