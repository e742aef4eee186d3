package io.rdmashuffle.it.app;

import io.rdmashuffle.benchmarks.workload.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What {@link MemoryApplication} saw. A bean, for JSON. */
public final class MemoryResult {
  /** The jobs with several readers per task. */
  public RunResult readers;

  /** What each of them must give. */
  public Map<String, String> expected = new TreeMap<>();

  /** Of the tasks that did not read to their end. */
  public String endings;

  /** Why tasks failed that nobody made fail. */
  public List<String> unexpectedFailures = new ArrayList<>();

  /** Tasks that threw or were killed on purpose. */
  public long failuresOnPurpose;

  /** The executors before and after what may leave something behind, when they had come to rest. */
  public List<ExecutorState> before = new ArrayList<>();

  public List<ExecutorState> after = new ArrayList<>();
}
