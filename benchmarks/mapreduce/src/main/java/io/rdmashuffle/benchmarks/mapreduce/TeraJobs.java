package io.rdmashuffle.benchmarks.mapreduce;

import io.rdmashuffle.benchmarks.workload.JobResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraChecksum;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Hadoop's own TeraGen, TeraSort and TeraValidate, on a cluster that runs. One thread. */
public final class TeraJobs {
  static final String STOCK = "org.apache.hadoop.mapreduce.task.reduce.Shuffle";

  /** The plugin of this project. */
  public static final String PLUGIN = "org.apache.hadoop.mapreduce.task.reduce.RdmaShuffle";

  private static final String PLUGIN_KEY = "mapreduce.job.reduce.shuffle.consumer.plugin.class";
  private static final String GROUP = "RDMA Shuffle";
  private static final String FALLBACKS = "HOSTS_FALLEN_BACK.";
  private static final String WITHOUT_RDMA = "TASKS_WITHOUT_RDMA";
  private static final int RECORD_BYTES = 100;
  private static final int BLOCK_MB = 64;
  private static final int REDUCES = 4;

  private final Configuration conf;
  private final Configuration helpers; // of the jobs before and after
  private final Path folder;
  private int megabytes;

  /**
   * @param folder where everything is read and written; in the cluster's file system
   */
  public TeraJobs(Configuration clusterConf, Path folder) {
    this.folder = folder;
    conf = new Configuration(clusterConf);
    SmallContainers.set(conf);
    conf.setInt("mapreduce.reduce.memory.mb", 768);
    conf.set("mapreduce.reduce.java.opts", "-Xmx400m -XX:+UseSerialGC");
    conf.setInt("mapreduce.job.maps", 2);
    conf.setInt("mapreduce.job.reduces", REDUCES);
    conf.setInt("dfs.replication", 1);
    conf.setInt("mapreduce.terasort.output.replication", 1);
    conf.setLong("dfs.blocksize", (long) BLOCK_MB << 20);
    helpers = new Configuration(conf);
  }

  /**
   * For a cluster on the local file system: generates and validates in this process, which is
   * faster, and divides keys evenly, as tasks would look for samples in the wrong folder there.
   */
  public TeraJobs onLocalFiles() {
    helpers.set("mapreduce.framework.name", "local");
    conf.setBoolean("mapreduce.terasort.simplepartitioner", true);
    return this;
  }

  private Path input() {
    return new Path(folder, "input");
  }

  /** Writes what is to be sorted. */
  public void generate(int sortMegabytes) throws Exception {
    megabytes = sortMegabytes;
    long records = (long) sortMegabytes * 1_000_000 / RECORD_BYTES;
    run(helpers, new TeraGen(), String.valueOf(records), input().toString());
  }

  /** What the digest of a sorting is if nothing was lost, added or changed. */
  public String digestOfInput() throws Exception {
    Path output = new Path(folder, "input-checksum");
    run(helpers, new TeraChecksum(), input().toString(), output.toString());
    return "checksum " + read(new Path(output, "part-r-00000"));
  }

  /**
   * Sorts, and has the result checked.
   *
   * @param name of the folder that it is written to
   * @param plugin class of the shuffle
   * @return its digest is the sum of all records' checksums, if they are sorted
   */
  public JobResult sort(String name, String plugin) throws Exception {
    String output = new Path(folder, name).toString();
    String report = new Path(folder, name + "-report").toString();
    Configuration job = new Configuration(conf);
    job.set(PLUGIN_KEY, plugin);
    Set<JobID> before = jobs();
    long begin = System.nanoTime();
    run(job, new TeraSort(), input().toString(), output);
    JobResult result = new JobResult();
    result.seconds = (System.nanoTime() - begin) / 1e9;
    result.name = "terasort-" + megabytes;
    count(result, counters(before));
    run(helpers, new TeraValidate(), output, report);
    result.digest = read(new Path(report, "part-r-00000"));
    System.out.printf(
        Locale.ROOT, "   %-14s %6.1f s  %s%n", result.name, result.seconds, result.digest);
    return result;
  }

  private static void run(Configuration conf, Tool tool, String... arguments) throws Exception {
    if (ToolRunner.run(conf, tool, arguments) != 0) {
      throw new IOException(
          tool.getClass().getSimpleName() + " failed with " + Arrays.toString(arguments));
    }
  }

  private static void count(JobResult result, Counters counters) {
    result.engineBlocks = counters.findCounter(TaskCounter.SHUFFLED_MAPS).getValue();
    long ours = 0;
    long ourBytes = 0;
    for (String way : new String[] {"read", "inline", "staged"}) {
      String name = way.toUpperCase(Locale.ROOT);
      long segments = counters.findCounter(GROUP, "SEGMENTS_" + name).getValue();
      long bytes = counters.findCounter(GROUP, "BYTES_" + name).getValue();
      result.blocks.put(way, segments);
      result.bytes.put(way, bytes);
      ours += segments;
      ourBytes += bytes;
    }
    long bytes = counters.findCounter(TaskCounter.REDUCE_SHUFFLE_BYTES).getValue();
    result.blocks.put("http", result.engineBlocks - ours);
    result.bytes.put("http", Math.max(0, bytes - ourBytes));
    long without = counters.findCounter(GROUP, WITHOUT_RDMA).getValue();
    if (without > 0) {
      result.fallbacks.put("tasks without RDMA", without);
    }
    for (Counter counter : counters.getGroup(GROUP)) {
      if (counter.getName().startsWith(FALLBACKS)) {
        result.fallbacks.put(counter.getName().substring(FALLBACKS.length()), counter.getValue());
      }
    }
  }

  /** Of the one job that was not there before. The tools do not give theirs away. */
  private Counters counters(Set<JobID> before) throws Exception {
    Set<JobID> after = jobs();
    after.removeAll(before);
    if (after.size() != 1) {
      throw new IOException("expected one new job, found " + after);
    }
    Cluster cluster = new Cluster(conf);
    try {
      return cluster.getJob(after.iterator().next()).getCounters();
    } finally {
      cluster.close();
    }
  }

  private Set<JobID> jobs() throws Exception {
    Set<JobID> ids = new HashSet<>();
    Cluster cluster = new Cluster(conf);
    try {
      for (JobStatus status : cluster.getAllJobStatuses()) {
        ids.add(status.getJobID());
      }
    } finally {
      cluster.close();
    }
    return ids;
  }

  private String read(Path file) throws IOException {
    FileSystem fs = file.getFileSystem(conf);
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(fs.open(file), StandardCharsets.UTF_8))) {
      StringBuilder text = new StringBuilder();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        text.append(line.replace('\t', ' ')).append("; ");
      }
      return text.toString().strip();
    }
  }
}
