package io.rdmashuffle.benchmarks.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What one application measured: all jobs under one shuffle. A bean, for JSON. */
public final class RunResult {
  /** The RDMA device that every executor chose; null for the stock shuffle. */
  public String device;

  public Map<String, String> versions = new TreeMap<>();
  public List<JobResult> jobs = new ArrayList<>();
}
