package io.rdmashuffle.benchmarks.workload;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Sorts records of 100 bytes, 10 of them key, none of them compressible, and validates the result:
 * order within and across partitions, number of records, and a sum over their hashes that the input
 * must have too.
 */
public final class TeraSort implements Workload {
  private static final int KEY_BYTES = 10;
  private static final int VALUE_BYTES = 90;

  private final long records;
  private final int maps;
  private final int reduces;

  /**
   * @param megabytes size of all records, in units of 1,000,000 bytes
   */
  public TeraSort(long megabytes, int maps, int reduces) {
    this.records = megabytes * 1_000_000 / (KEY_BYTES + VALUE_BYTES);
    this.maps = maps;
    this.reduces = reduces;
  }

  @Override
  public String name() {
    return "terasort";
  }

  @Override
  public String run(SparkSession spark) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    List<Integer> ids = IntStream.range(0, maps).boxed().toList();
    long perMap = records / maps;
    JavaPairRDD<byte[], byte[]> input =
        context.parallelize(ids, maps).mapPartitionsToPair(it -> generate(it.next(), perMap));
    List<Part> parts =
        input
            .repartitionAndSortWithinPartitions(
                new TopBits(reduces), (Comparator<byte[]> & Serializable) Arrays::compareUnsigned)
            .mapPartitionsWithIndex((i, it) -> List.of(Part.of(i, it)).iterator(), true)
            .collect();
    return validate(parts, perMap * maps);
  }

  private String validate(List<Part> parts, long expectedRecords) {
    long count = 0;
    long sum = 0;
    byte[] last = new byte[0];
    for (Part part : parts) {
      count += part.records;
      sum += part.hashes;
      if (part.records == 0) {
        continue;
      }
      if (Arrays.compareUnsigned(last, part.first) > 0) {
        throw new IllegalStateException("partition " + part.index + " starts below its neighbour");
      }
      last = part.last;
    }
    long expectedSum = expectedSum(expectedRecords);
    if (count != expectedRecords || sum != expectedSum) {
      throw new IllegalStateException(
          "%d records with hash sum %x, expected %d with %x"
              .formatted(count, sum, expectedRecords, expectedSum));
    }
    return "%d records, sum %016x".formatted(count, sum);
  }

  private long expectedSum(long count) {
    return LongStream.range(0, count).map(i -> hash(key(i), value(i))).sum();
  }

  private static Iterator<Tuple2<byte[], byte[]>> generate(int map, long count) {
    long first = map * count;
    return LongStream.range(first, first + count)
        .mapToObj(i -> new Tuple2<>(key(i), value(i)))
        .iterator();
  }

  private static byte[] key(long i) {
    return bytes(KEY_BYTES, i);
  }

  private static byte[] value(long i) {
    return bytes(VALUE_BYTES, ~i);
  }

  private static byte[] bytes(int length, long seed) {
    byte[] out = new byte[length];
    long state = seed;
    for (int at = 0; at < length; at += 8) {
      state = mix(state + at);
      for (int b = 0; b < 8 && at + b < length; b++) {
        out[at + b] = (byte) (state >>> (8 * b));
      }
    }
    return out;
  }

  /** The finaliser of SplitMix64: every bit of the result depends on every bit of the input. */
  private static long mix(long seed) {
    long z = seed + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  private static long hash(byte[] key, byte[] value) {
    return mix(Arrays.hashCode(key) * 31L + Arrays.hashCode(value));
  }

  /** What one sorted partition holds. No record: Kryo 4 cannot write those. */
  private static final class Part implements Serializable {
    private static final long serialVersionUID = 1L;
    private final int index;
    private final long records;
    private final long hashes;
    private final byte[] first;
    private final byte[] last;

    Part(int index, long records, long hashes, byte[] first, byte[] last) {
      this.index = index;
      this.records = records;
      this.hashes = hashes;
      this.first = first;
      this.last = last;
    }

    static Part of(int index, Iterator<Tuple2<byte[], byte[]>> records) {
      byte[] first = new byte[0];
      byte[] last = new byte[0];
      long count = 0;
      long hashes = 0;
      while (records.hasNext()) {
        Tuple2<byte[], byte[]> record = records.next();
        if (count == 0) {
          first = record._1();
        } else if (Arrays.compareUnsigned(last, record._1()) > 0) {
          throw new IllegalStateException("record " + count + " of partition " + index + " sinks");
        }
        last = record._1();
        count++;
        hashes += hash(record._1(), record._2());
      }
      return new Part(index, count, hashes, first, last);
    }
  }

  /** Keys are uniform by construction, so their top bits are the partition and nobody samples. */
  private static final class TopBits extends Partitioner {
    private static final long serialVersionUID = 1L;
    private final int partitions;

    TopBits(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      byte[] b = (byte[]) key;
      long top = (b[0] & 255L) << 16 | (b[1] & 255L) << 8 | (b[2] & 255L);
      return (int) ((top * partitions) >>> 24);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof TopBits that && that.partitions == partitions;
    }

    @Override
    public int hashCode() {
      return partitions;
    }
  }
}
