package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What {@link RetriesApplication} saw. A bean, for JSON. */
public final class RetriesResult {
  /** What every phase must give. */
  public String expected;

  /** What each phase gave, by its name. */
  public Map<String, String> digests = new TreeMap<>();

  /** Why tasks failed, by phase. */
  public Map<String, List<String>> failures = new TreeMap<>();

  /** Attempts that Spark started because others were slow, by phase. */
  public Map<String, Long> speculative = new TreeMap<>();

  /** After the first phase. */
  public List<Executor> executors = new ArrayList<>();

  /** What one executor did. */
  public static final class Executor {
    public String id;
    public String device;
    public Map<String, Long> fallbacks = new TreeMap<>();
    public long blocksByRdma;
  }
}
