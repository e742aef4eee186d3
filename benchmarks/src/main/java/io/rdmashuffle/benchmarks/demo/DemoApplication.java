package io.rdmashuffle.benchmarks.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.workload.JobRunner;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.benchmarks.workload.TeraSort;
import io.rdmashuffle.benchmarks.workload.TpcDsQuery;
import io.rdmashuffle.benchmarks.workload.TpcDsTables;
import io.rdmashuffle.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/**
 * The Spark application of the demo. Arguments: run (generate, stock or rdma), folder, scale
 * factor, queries, megabytes to sort. Writes {@code folder/run.json} and progress to stdout.
 */
public final class DemoApplication {
  private static final int EXECUTORS = 2;
  private static final int SORT_PARTITIONS = 8;

  private DemoApplication() {}

  public static void main(String[] arguments) throws Exception {
    String run = arguments[0];
    Path folder = Path.of(arguments[1]);
    double scale = Double.parseDouble(arguments[2]);
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      RunResult result = new RunResult();
      TpcDsTables tables = new TpcDsTables(folder.resolve("tpcds-sf" + scale), scale);
      if (run.equals("generate")) {
        tables.generate(spark, EXECUTORS, System.out::println);
      } else {
        tables.createViews(spark);
        List<Workload> jobs = workloads(arguments[3].split(","), Integer.parseInt(arguments[4]));
        result = new JobRunner(spark, EXECUTORS).run(jobs, System.out::println);
      }
      new ObjectMapper().writeValue(folder.resolve(run + ".json").toFile(), result);
    } finally {
      spark.stop();
    }
  }

  private static List<Workload> workloads(String[] queries, int sortMegabytes) {
    List<Workload> workloads = new ArrayList<>();
    for (String query : queries) {
      workloads.add(new TpcDsQuery(query));
    }
    workloads.add(new TeraSort(sortMegabytes, SORT_PARTITIONS, SORT_PARTITIONS));
    return workloads;
  }
}
