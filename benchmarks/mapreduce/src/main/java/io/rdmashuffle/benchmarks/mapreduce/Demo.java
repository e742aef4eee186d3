package io.rdmashuffle.benchmarks.mapreduce;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.rdmashuffle.benchmarks.demo.DemoDevice;
import io.rdmashuffle.benchmarks.demo.DemoReport;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The program behind {@code dev/demo mapreduce}. Starts YARN with two NodeManagers and HDFS, sorts
 * the same records with Hadoop's own shuffle and with this one, prints a table and writes {@code
 * report-mapreduce.json}.
 *
 * <p>The system property {@code demo.folder} says where everything is written.
 */
public final class Demo {
  private static final Logger LOG = LoggerFactory.getLogger(Demo.class);
  private static final int NODE_MANAGERS = 2;
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private Demo() {}

  /** Exit code 0: all results equal; 1: not, or not as strict asked; 2: it could not run. */
  public static void main(String[] arguments) {
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
    int exit = 2;
    try {
      exit = run(options, device);
    } catch (Exception | LinkageError e) {
      LOG.error("the demo could not run", e);
      System.err.println("the demo could not run: " + e + "; see mapreduce.log beside the report");
    }
    System.exit(exit); // Hadoop leaves threads behind
  }

  private static int run(DemoOptions options, String device) throws Exception {
    Path folder = Path.of(System.getProperty("demo.folder")).toAbsolutePath();
    Path clusterFolder = folder.resolve("mapreduce");
    delete(clusterFolder);
    step("starting YARN with " + NODE_MANAGERS + " NodeManagers, and HDFS");
    Map<String, String> settings =
        Map.of(
            "mapreduce.shuffle.rdma.device", device,
            "mapreduce.shuffle.rdma.nodemanager.device", device);
    RunResult stock;
    RunResult rdma;
    try (MiniCluster cluster =
        MiniCluster.start(new MiniCluster.Spec(clusterFolder, NODE_MANAGERS, true, settings))) {
      // However the demo ends: a NodeManager that is not stopped leaves its containers running.
      Runtime.getRuntime().addShutdownHook(new Thread(cluster::close, "demo-stop"));
      TeraJobs jobs = new TeraJobs(cluster.conf(), new org.apache.hadoop.fs.Path("/tera"));
      step("generating " + options.sortMegabytes() + " MB");
      jobs.generate(options.sortMegabytes());
      step("sorting them with Hadoop's own shuffle");
      stock = result(jobs, "stock", TeraJobs.STOCK);
      step("sorting them with RdmaShuffle, device " + device);
      rdma = result(jobs, "rdma", TeraJobs.PLUGIN);
      rdma.device = device;
      rdma.versions.put("rdma-shuffle", version());
    }
    return report(folder, new DemoReport(stock, rdma, "HTTP"), options.strict());
  }

  private static RunResult result(TeraJobs jobs, String run, String plugin) throws Exception {
    RunResult result = new RunResult();
    result.versions.put("hadoop", VersionInfo.getVersion());
    result.versions.put("java", Runtime.version().toString());
    result.versions.put(
        "os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    result.jobs.add(jobs.sort(run, plugin));
    return result;
  }

  private static int report(Path folder, DemoReport report, boolean strict) throws IOException {
    Path file = folder.resolve("report-mapreduce.json");
    JSON.writeValue(file.toFile(), report.asTree());
    System.out.println("\n" + report.asTable() + "Written to " + file);
    List<String> problems = report.problems(strict);
    problems.forEach(p -> System.out.println("FAILED " + p));
    return problems.isEmpty() ? 0 : 1;
  }

  private static String version() {
    String version = RdmaShuffleHandler.class.getPackage().getImplementationVersion();
    return version == null ? "unknown: not loaded from the plugin jar" : version;
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

  private static void step(String text) {
    System.out.println("== " + text);
  }
}
