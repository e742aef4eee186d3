package io.rdmashuffle.it.app;

import io.rdmashuffle.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Tasks with two readers at a time, over far more bytes than the pool of the readers: a sort-merge
 * join, a cogroup, a union, and a zip that drains one reader before it touches the other. The
 * results are known beforehand.
 */
final class Readers {
  private static final int MAPS = 6;
  private static final int REDUCES = 6;
  private static final int RECORD_BYTES = 20_000;

  private final int records;

  /**
   * @param megabytes of each side
   */
  Readers(int megabytes) {
    this.records = megabytes * 1_000_000 / RECORD_BYTES / MAPS * MAPS;
  }

  List<Workload> jobs() {
    return List.of(
        RddJobs.job("cogroup", this::cogroup),
        RddJobs.job("union", this::union),
        RddJobs.job("zip", this::zip),
        new SortMergeJoin());
  }

  String expected(String job) {
    return switch (job) {
      case "union" -> text(2L * records, 3L * sumOfSeeds());
      case "sort-merge-join" -> text(records, records * (records - 1L) / 2);
      default -> text(records, 3L * sumOfSeeds());
    };
  }

  private long sumOfSeeds() {
    return records * (records - 1L) / 2;
  }

  private static String text(long rows, long sum) {
    return rows + " rows, sum " + sum;
  }

  /** Record i has the key i and the seed i times the factor. */
  private JavaPairRDD<Integer, byte[]> side(JavaSparkContext context, int factor) {
    int perMap = records / MAPS;
    return context
        .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
        .flatMapToPair(
            map ->
                IntStream.range(map * perMap, (map + 1) * perMap)
                    .mapToObj(i -> new Tuple2<>(i, Record.of((long) i * factor, RECORD_BYTES)))
                    .iterator());
  }

  private static String sum(List<Tuple2<Long, Long>> counted) {
    return text(
        counted.stream().mapToLong(Tuple2::_1).sum(), counted.stream().mapToLong(Tuple2::_2).sum());
  }

  private String cogroup(JavaSparkContext context) {
    return sum(
        side(context, 1)
            .cogroup(side(context, 2), new HashPartitioner(REDUCES))
            .values()
            .map(
                both -> {
                  long sum = 0;
                  for (byte[] record : both._1()) {
                    sum += Record.seed(record);
                  }
                  for (byte[] record : both._2()) {
                    sum += Record.seed(record);
                  }
                  return new Tuple2<>(1L, sum);
                })
            .collect());
  }

  private String union(JavaSparkContext context) {
    HashPartitioner partitioner = new HashPartitioner(REDUCES);
    return sum(
        side(context, 1)
            .partitionBy(partitioner)
            .union(side(context, 2).partitionBy(partitioner))
            .map(pair -> new Tuple2<>(1L, Record.seed(pair._2())))
            .collect());
  }

  private String zip(JavaSparkContext context) {
    HashPartitioner partitioner = new HashPartitioner(REDUCES);
    return sum(
        side(context, 1)
            .partitionBy(partitioner)
            .zipPartitions(
                side(context, 2).partitionBy(partitioner),
                (left, right) -> {
                  List<Tuple2<Long, Long>> sums = new ArrayList<>();
                  while (right.hasNext()) {
                    sums.add(new Tuple2<>(1L, Record.seed(right.next()._2())));
                  }
                  while (left.hasNext()) {
                    sums.add(new Tuple2<>(0L, Record.seed(left.next()._2())));
                  }
                  return sums.iterator();
                })
            .collect());
  }

  /** Both sides shuffled and sorted; each row's payload is compared with what its id implies. */
  private final class SortMergeJoin implements Workload {
    private static final String PAYLOAD = "repeat(sha2(cast(id * %d AS string), 512), 150)";

    @Override
    public String name() {
      return "sort-merge-join";
    }

    @Override
    public String run(SparkSession spark) {
      for (int side = 1; side <= 2; side++) {
        spark
            .range(0, records, 1, MAPS)
            .selectExpr("id", String.format(PAYLOAD, side) + " AS payload" + side)
            .createOrReplaceTempView("side" + side);
      }
      Row row =
          spark
              .sql(
                  "SELECT count(*), sum(id), sum(if(payload1 = "
                      + String.format(PAYLOAD, 1)
                      + " AND payload2 = "
                      + String.format(PAYLOAD, 2)
                      + ", 0, 1)) FROM (SELECT /*+ MERGE(side1, side2) */ * FROM side1 JOIN side2"
                      + " USING (id))")
              .first();
      if (row.getLong(2) != 0) {
        throw new IllegalStateException(row.getLong(2) + " rows with wrong bytes");
      }
      return text(row.getLong(0), row.getLong(1));
    }
  }
}
