package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.mapreduce.MiniCluster;
import io.rdmashuffle.benchmarks.mapreduce.SmallContainers;
import io.rdmashuffle.benchmarks.mapreduce.WordCount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * A cluster of two NodeManagers with the software adapter, and a word count to run on it. After
 * each job nothing of it may be left.
 */
final class TestCluster implements AutoCloseable {
  static final String PLUGIN = "org.apache.hadoop.mapreduce.task.reduce.RdmaShuffle";
  static final String PLUGIN_KEY = "mapreduce.job.reduce.shuffle.consumer.plugin.class";
  static final int MAPS = 3;
  static final int REDUCES = 2;
  static final int SEGMENTS = MAPS * REDUCES;

  private static final int WORDS = 40_000; // per map; makes segments of several pieces
  private static final Duration QUIET = Duration.ofSeconds(40);

  private final MiniCluster cluster;
  private final Nodes nodes;
  private final Map<String, Integer> expected;
  private final FileSystem files;
  private int jobs;

  private TestCluster(MiniCluster cluster, Nodes nodes) throws IOException {
    this.cluster = cluster;
    this.nodes = nodes;
    this.files = FileSystem.getLocal(cluster.conf());
    this.expected = WordCount.generate(files, path("input"), MAPS, WORDS);
  }

  static TestCluster start(String name) throws Exception {
    Path folder = Path.of(System.getProperty("it.folder"), name).toAbsolutePath();
    delete(folder);
    Map<String, String> settings = new HashMap<>();
    settings.put("mapreduce.shuffle.rdma.device", "soft");
    settings.put("mapreduce.shuffle.rdma.nodemanager.device", "soft");
    MiniCluster cluster = MiniCluster.start(new MiniCluster.Spec(folder, 2, false, settings));
    return new TestCluster(cluster, new Nodes(cluster));
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  Nodes nodes() {
    return nodes;
  }

  /** Where NodeManagers and tasks write. */
  Path folder() {
    return cluster.folder();
  }

  /** A copy, for jobs of others. */
  Configuration conf() {
    return cluster.conf();
  }

  /** In the file system of jobs. */
  org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(cluster.folder().resolve(name).toUri());
  }

  /**
   * Runs a word count, whose result must be right, and waits until NodeManagers hold nothing more.
   *
   * @param settings of the job
   */
  JobRun run(Consumer<Configuration> settings) throws Exception {
    Configuration conf = cluster.conf();
    SmallContainers.set(conf);
    conf.set(PLUGIN_KEY, PLUGIN);
    conf.setInt(MRJobConfig.NUM_REDUCES, REDUCES);
    conf.setFloat("mapreduce.job.reduce.slowstart.completedmaps", 1f);
    settings.accept(conf);
    org.apache.hadoop.fs.Path output = path("output-" + jobs++);
    int reduces = conf.getInt(MRJobConfig.NUM_REDUCES, REDUCES);
    Job job = WordCount.job(conf, path("input"), output, reduces);
    boolean succeeded = job.waitForCompletion(false);
    assertThat(succeeded).as("%s", job.getStatus().getFailureInfo()).isTrue();
    JobRun run = new JobRun(WordCount.read(files, output), job.getCounters(), job);
    assertThat(run.counts()).isEqualTo(expected);
    awaitNothingIsLeft();
    return run;
  }

  /** Lines of the logs of a job's tasks that have the text in them. */
  List<String> logLines(JobRun run, String text) throws IOException {
    String application = run.job().getJobID().toString().replace("job_", "application_");
    List<String> lines = new ArrayList<>();
    try (Stream<Path> all = Files.walk(cluster.folder().getParent())) {
      for (Path log :
          all.filter(path -> path.toString().contains(application))
              .filter(path -> path.getFileName().toString().startsWith("syslog"))
              .toList()) {
        Files.readAllLines(log).stream().filter(line -> line.contains(text)).forEach(lines::add);
      }
    }
    return lines;
  }

  /** Waits until NodeManagers hold nothing of any job, and no task has left files of ours. */
  void awaitNothingIsLeft() {
    Await.empty(QUIET, nodes::held);
    Await.empty(QUIET, this::unpackedLibraries);
  }

  /** Tasks have temporary directories of their own below their working directories. */
  private Map<String, Path> unpackedLibraries() {
    try (Stream<Path> all = Files.walk(cluster.folder())) {
      return all.filter(path -> path.getFileName().toString().startsWith("rdmashuffle-"))
          .collect(Collectors.toMap(Path::toString, path -> path));
    } catch (IOException | UncheckedIOException e) { // NodeManagers are deleting
      return Map.of(e.toString(), cluster.folder());
    }
  }

  /** Stops it; nothing of RDMA may be left in this process. */
  @Override
  public void close() {
    cluster.close();
    nodes.handlers().forEach(handler -> assertThat(handler.transport()).isNull());
    Await.empty(QUIET, TestCluster::rdmaThreads);
  }

  private static Map<String, Thread> rdmaThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("rdma-"))
        .collect(Collectors.toMap(Thread::getName, thread -> thread, (a, b) -> a));
  }
}
