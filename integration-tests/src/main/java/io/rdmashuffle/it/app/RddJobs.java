package io.rdmashuffle.it.app;

import io.rdmashuffle.benchmarks.workload.Workload;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Shuffles through each of Spark's writers and each way of reading. Which writer serves a job
 * depends on {@code spark.shuffle.sort.bypassMergeThreshold}, which the tests set to 4: up to four
 * partitions go the bypass way, more of them to the serialized (Kryo) or the sort writer.
 */
final class RddJobs {
  private static final int MAPS = 4;
  private static final int MANY = 9;
  private static final int NUMBERS = 20_000;

  private RddJobs() {}

  static List<Workload> all() {
    List<Workload> jobs = new ArrayList<>();
    jobs.add(job("bypass", RddJobs::bypass));
    jobs.add(job("partition-by", RddJobs::partitionBy));
    jobs.add(job("java-serialized", RddJobs::javaSerialized));
    jobs.add(job("reduce-sort", RddJobs::reduceAndSort));
    jobs.add(job("group", RddJobs::group));
    jobs.add(job("order-within", RddJobs::orderWithin));
    jobs.add(job("mostly-empty", RddJobs::mostlyEmpty));
    jobs.add(job("sizes", BlockSizes::run));
    jobs.add(job("joins", RddJobs::joins));
    return jobs;
  }

  /** What the jobs give that only move records about, by name; found without Spark. */
  static Map<String, String> resultsOfMoves() {
    return Map.of(
        "bypass", unmoved(x -> x),
        "partition-by", unmoved(RddJobs::pair),
        "java-serialized", unmoved(RddJobs::otherPair));
  }

  private static String unmoved(IntFunction<?> record) {
    return Digest.of(IntStream.range(0, NUMBERS).mapToObj(record).toList());
  }

  static Workload job(String name, Function<JavaSparkContext, String> body) {
    return new Workload() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public String run(SparkSession spark) {
        return body.apply(JavaSparkContext.fromSparkContext(spark.sparkContext()));
      }
    };
  }

  private static JavaRDD<Integer> numbers(JavaSparkContext context) {
    return context.parallelize(IntStream.range(0, NUMBERS).boxed().toList(), MAPS);
  }

  private static Tuple2<Integer, String> pair(int x) {
    return new Tuple2<>(x, "value of " + x);
  }

  private static Tuple2<Integer, String> otherPair(int x) {
    return new Tuple2<>(x, "serialized " + x);
  }

  private static String bypass(JavaSparkContext context) {
    return Digest.of(numbers(context).repartition(3).collect());
  }

  private static String partitionBy(JavaSparkContext context) {
    JavaPairRDD<Integer, String> pairs = numbers(context).mapToPair(RddJobs::pair);
    return Digest.of(pairs.partitionBy(new HashPartitioner(MANY)).collect());
  }

  /** With Java's serializer, whatever the application's is: slower, and much larger. */
  private static String javaSerialized(JavaSparkContext context) {
    JavaPairRDD<Integer, String> pairs = numbers(context).mapToPair(RddJobs::otherPair);
    ClassTag<Integer> key = ClassTag$.MODULE$.apply(Integer.class);
    ClassTag<String> value = ClassTag$.MODULE$.apply(String.class);
    ShuffledRDD<Integer, String, String> shuffled =
        new ShuffledRDD<Integer, String, String>(
                pairs.rdd(), new HashPartitioner(MANY), key, value, value)
            .setSerializer(new JavaSerializer(context.getConf()));
    return Digest.of(shuffled.toJavaRDD().collect());
  }

  /** Map-side combine, then a range partitioner and a sort. */
  private static String reduceAndSort(JavaSparkContext context) {
    List<Tuple2<Integer, Long>> sorted =
        numbers(context)
            .mapToPair(x -> new Tuple2<>(x % 1_000, (long) x))
            .reduceByKey(Long::sum, MANY)
            .sortByKey(true, MANY)
            .collect();
    for (int i = 1; i < sorted.size(); i++) {
      if (sorted.get(i - 1)._1() > sorted.get(i)._1()) {
        throw new IllegalStateException("not sorted at " + i);
      }
    }
    return Digest.of(sorted);
  }

  /** Aggregation at the reducer only. */
  private static String group(JavaSparkContext context) {
    return Digest.of(
        numbers(context)
            .mapToPair(x -> new Tuple2<>(x % 100, x))
            .groupByKey(MANY)
            .mapValues(RddJobs::sum)
            .collect());
  }

  private static long sum(Iterable<Integer> values) {
    long sum = 0;
    for (int value : values) {
      sum += value;
    }
    return sum;
  }

  /** Key ordering without aggregation. */
  private static String orderWithin(JavaSparkContext context) {
    return Digest.of(
        numbers(context)
            .mapToPair(x -> new Tuple2<>(x * 7919 % 20_011, x))
            .repartitionAndSortWithinPartitions(
                new HashPartitioner(MANY),
                (Comparator<Integer> & Serializable) Comparator.<Integer>naturalOrder())
            .glom()
            .map(List::toString)
            .collect());
  }

  /** 60 partitions of which four hold anything. */
  private static String mostlyEmpty(JavaSparkContext context) {
    return Digest.of(
        context
            .parallelize(List.of(3, 17, 17, 58), MAPS)
            .mapToPair(x -> new Tuple2<>(x, 1))
            .partitionBy(new HashPartitioner(60))
            .collect());
  }

  /** Several readers in one task: a join, a cogroup and a union of three shuffles. */
  private static String joins(JavaSparkContext context) {
    JavaPairRDD<Integer, Integer> left = numbers(context).mapToPair(x -> new Tuple2<>(x % 500, x));
    JavaPairRDD<Integer, Integer> right =
        numbers(context).filter(x -> x < 2_000).mapToPair(x -> new Tuple2<>(x % 500, -x));
    long joined = left.join(right, MANY).count();
    List<Tuple2<Integer, String>> grouped =
        left.cogroup(right, new HashPartitioner(MANY))
            .mapValues(both -> sum(both._1()) + "/" + sum(both._2()))
            .collect();
    long united =
        left.partitionBy(new HashPartitioner(MANY))
            .union(right.groupByKey(MANY).mapValues(values -> (int) sum(values)))
            .count();
    return joined + " joined, " + united + " united, " + Digest.of(grouped);
  }
}
