package io.rdmashuffle.benchmarks.demo;

import io.rdmashuffle.benchmarks.workload.JobResult;
import io.rdmashuffle.benchmarks.workload.RunResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares two runs of the same jobs: as a table for people, as a tree for JSON, as a verdict. One
 * thread at a time.
 */
public final class DemoReport {
  private static final String ROW = "%-14s %-6s %8s %8s  %13s %13s %13s %13s  %s%n";

  private final RunResult stock;
  private final RunResult rdma;
  private final String engineWay;
  private final List<String> ways;

  /**
   * @param stock with the engine's own shuffle
   * @param rdma with this one
   * @param engineWay how the engine's own shuffle carries blocks, as people call it
   */
  public DemoReport(RunResult stock, RunResult rdma, String engineWay) {
    this.stock = stock;
    this.rdma = rdma;
    this.engineWay = engineWay;
    this.ways = List.of("read", "inline", "staged", engineKey());
  }

  private String engineKey() {
    return engineWay.toLowerCase(Locale.ROOT);
  }

  /** The documented shape of report.json. */
  public Map<String, Object> asTree() {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("device", rdma.device);
    report.put("versions", rdma.versions);
    List<Map<String, Object>> jobs = new ArrayList<>();
    for (JobResult job : rdma.jobs) {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("name", job.name);
      tree.put("equal", equal(job));
      tree.put("stockSeconds", stockJob(job).seconds);
      tree.put("rdmaSeconds", job.seconds);
      tree.put("blocks", byWay(job.blocks));
      tree.put("bytes", byWay(job.bytes));
      tree.put("fallbacks", job.fallbacks);
      jobs.add(tree);
    }
    report.put("jobs", jobs);
    return report;
  }

  /** For people. */
  public String asTable() {
    StringBuilder out = new StringBuilder();
    out.append(
        row(
            "job",
            "result",
            "stock s",
            "rdma s",
            "READ",
            "inline",
            "staged",
            engineWay,
            "fallbacks"));
    for (JobResult job : rdma.jobs) {
      out.append(
          row(
              job.name,
              equal(job) ? "equal" : "DIFFERS",
              seconds(stockJob(job).seconds),
              seconds(job.seconds),
              way(job, "read"),
              way(job, "inline"),
              way(job, "staged"),
              way(job, engineKey()),
              job.fallbacks.isEmpty() ? "none" : job.fallbacks.toString()));
    }
    out.append("Remote blocks / bytes by the way they came. Device: ").append(rdma.device);
    return out.append(".\n").toString();
  }

  /** Why the demo failed, or an empty list. */
  public List<String> problems(boolean strict) {
    List<String> problems = new ArrayList<>();
    for (JobResult job : rdma.jobs) {
      if (!equal(job)) {
        problems.add(job.name + ": stock " + stockJob(job).digest + ", RDMA " + job.digest);
      }
      long counted = job.blocks.values().stream().mapToLong(Long::longValue).sum();
      if (counted < job.engineBlocks) { // Spark leaves out readers that a join did not drain
        problems.add(
            job.name + ": " + counted + " blocks counted, " + job.engineBlocks + " by the engine");
      }
      long byEngine = job.blocks.getOrDefault(engineKey(), 0L);
      if (strict && rdma.device != null && byEngine > 0) {
        problems.add(
            job.name + ": " + byEngine + " blocks came by " + engineWay + " " + job.fallbacks);
      }
    }
    return problems;
  }

  private boolean equal(JobResult job) {
    return job.digest.equals(stockJob(job).digest);
  }

  private JobResult stockJob(JobResult job) {
    return stock.jobs.stream()
        .filter(j -> j.name.equals(job.name))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("the stock run has no job " + job.name));
  }

  private Map<String, Long> byWay(Map<String, Long> values) {
    Map<String, Long> all = new LinkedHashMap<>();
    ways.forEach(way -> all.put(way, values.getOrDefault(way, 0L)));
    return all;
  }

  private static String way(JobResult job, String way) {
    return job.blocks.getOrDefault(way, 0L) + " / " + size(job.bytes.getOrDefault(way, 0L));
  }

  private static String size(long bytes) {
    for (Map.Entry<Long, String> unit :
        new TreeMap<>(Map.of(1_000_000_000L, "GB", 1_000_000L, "MB", 1_000L, "kB"))
            .descendingMap()
            .entrySet()) {
      if (bytes >= unit.getKey()) {
        double value = bytes / (double) unit.getKey();
        return String.format(
            Locale.ROOT, value < 10 ? "%.1f %s" : "%.0f %s", value, unit.getValue());
      }
    }
    return bytes + " B";
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f", seconds);
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, ROW, cells);
  }
}
