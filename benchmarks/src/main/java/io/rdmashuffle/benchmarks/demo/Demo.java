package io.rdmashuffle.benchmarks.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.rdmashuffle.benchmarks.cluster.SparkHome;
import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.benchmarks.workload.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The program behind {@code dev/demo}. Generates data, runs the jobs with the stock shuffle and
 * with this one, prints a table and writes {@code report.json}.
 *
 * <p>System properties say where things are: {@code demo.folder} (everything is written there),
 * {@code demo.plugin} (the plugin jar), {@code demo.application} (this module's jar), {@code
 * demo.spark} and {@code demo.libraries} (files with class paths).
 */
public final class Demo {
  private static final String CLUSTER = "local-cluster[2,1,1536]";
  private static final Duration LIMIT = Duration.ofMinutes(30);
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final DemoOptions options;
  private final Path folder = Path.of(System.getProperty("demo.folder")).toAbsolutePath();
  private final Path plugin = Path.of(System.getProperty("demo.plugin")).toAbsolutePath();
  private final Path application = Path.of(System.getProperty("demo.application")).toAbsolutePath();
  private final SparkHome home;

  private Demo(DemoOptions options) throws IOException {
    this.options = options;
    this.home =
        SparkHome.create(
            folder.resolve("spark"),
            SparkHome.readClassPath(Path.of(System.getProperty("demo.spark"))));
  }

  /** Exit code 0: all results equal; 1: not, or not as strict asked; 2: it could not run. */
  public static void main(String[] arguments) throws Exception {
    DemoOptions options;
    String device;
    try {
      options = DemoOptions.parse(arguments);
      device = DemoDevice.choose(options.device());
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage() + "\n\n" + DemoOptions.USAGE);
      System.exit(2);
      return;
    }
    System.exit(new Demo(options).run(device));
  }

  private int run(String device) throws Exception {
    Path data = folder.resolve("tpcds-sf" + options.scale());
    if (!Files.exists(data.resolve("_COMPLETE"))) {
      step("generating TPC-DS tables, scale factor " + options.scale() + ", into " + data);
      submit("generate", base("generate"), "local[2]");
    }
    step("running the jobs with Spark's stock shuffle, 2 executors");
    RunResult stock = submit("stock", base("stock"), CLUSTER);
    step("running the jobs with RdmaShuffleManager, 2 executors, device " + device);
    RunResult rdma = submit("rdma", withPlugin(base("rdma"), device), CLUSTER);
    DemoReport report = new DemoReport(stock, rdma, "Netty");
    Path file = folder.resolve("report.json");
    JSON.writeValue(file.toFile(), report.asTree());
    System.out.println("\n" + report.asTable() + "Written to " + file);
    List<String> problems = report.problems(options.strict());
    problems.forEach(p -> System.out.println("FAILED " + p));
    return problems.isEmpty() ? 0 : 1;
  }

  private SparkSubmit base(String run) {
    return new SparkSubmit(home, application, DemoApplication.class.getName())
        .set("spark.app.name", "rdma-shuffle demo: " + run)
        .set("spark.executor.memory", "1536m")
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.sql.shuffle.partitions", "16")
        .set("spark.sql.datetime.java8API.enabled", "true")
        // A small machine's stand-in for large tables: joins shuffle instead of broadcasting.
        .set("spark.sql.autoBroadcastJoinThreshold", "-1")
        .set("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1")
        // Else the few megabytes of a small scale factor end up in one local partition.
        .set("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .set("spark.sql.adaptive.localShuffleReader.enabled", "false")
        .set("spark.shuffle.sort.bypassMergeThreshold", "1")
        .driverOption("-Xmx1g");
  }

  /**
   * What a user adds to use this shuffle: the jar, the manager, and on a host like this a device.
   */
  private SparkSubmit withPlugin(SparkSubmit submit, String device) {
    return submit
        .jars(List.of(plugin))
        .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
        .set("spark.shuffle.rdma.device", device);
  }

  private RunResult submit(String run, SparkSubmit submit, String master) throws Exception {
    Path result = folder.resolve(run + ".json");
    Path log = folder.resolve(run + ".log");
    Path progress = folder.resolve(run + ".out");
    Files.deleteIfExists(result);
    submit.jars(SparkHome.readClassPath(Path.of(System.getProperty("demo.libraries"))));
    List<String> arguments =
        new ArrayList<>(List.of(run, folder.toString(), String.valueOf(options.scale())));
    arguments.add(String.join(",", options.queries()));
    arguments.add(String.valueOf(options.sortMegabytes()));
    try (SparkSubmit.Run started = submit.start(master, arguments, progress, log);
        ProgressTail tail = new ProgressTail(progress)) {
      int exit = started.await(LIMIT);
      tail.finish();
      if (exit != 0 || !Files.exists(result)) {
        throw new IOException("the " + run + " run ended with " + exit + "; its log is " + log);
      }
    }
    return JSON.readValue(result.toFile(), RunResult.class);
  }

  private static void step(String text) {
    System.out.println("== " + text);
  }
}
