package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.spark.RdmaShuffleReport;
import java.io.Serializable;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Jobs whose tasks read blocks that are large against the memory of an executor, while they hold
 * heap of their own. Arguments: the file to write, then for each job {@code
 * MAPSxPARTITIONSxKILOBYTESxHELD}: so many kilobytes from each map to each partition, and so many
 * megabytes of heap held by each task that reads.
 */
public final class LargeBlocksApplication {
  private static final int MOST_RECORD_BYTES = 1_000_000;

  /** Different records of one size. */
  private static final int SHIFTS = 4096;

  private LargeBlocksApplication() {}

  public static void main(String[] arguments) throws Exception {
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
      LargeBlocksResult result = new LargeBlocksResult();
      Map<String, Seen> lastOfExecutor = new TreeMap<>();
      for (String job : List.of(arguments).subList(1, arguments.length)) {
        List<Seen> seen = run(context, Shape.of(job));
        result.partitions.add(seen.stream().map(s -> s.content).toList());
        seen.forEach(s -> lastOfExecutor.merge(s.executor, s, Seen::later));
        result.overflowBytes =
            seen.stream().mapToLong(s -> s.overflowBytes).reduce(result.overflowBytes, Math::max);
        System.out.println(job + ": " + seen);
      }
      for (Seen last : lastOfExecutor.values()) {
        result.copiedOut += last.copiedOut;
        last.fallbacks.forEach((reason, n) -> result.fallbacks.merge(reason, n, Long::sum));
      }
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), result);
    } finally {
      spark.stop();
    }
  }

  private static List<Seen> run(JavaSparkContext context, Shape shape) {
    List<Integer> maps = IntStream.range(0, shape.maps).boxed().toList();
    return context
        .parallelize(maps, shape.maps)
        .flatMapToPair(shape::records)
        .partitionBy(new HashPartitioner(shape.partitions))
        .mapPartitionsWithIndex(
            (partition, records) -> List.of(shape.read(records)).iterator(), true)
        .collect();
  }

  /** What a task saw. A plain class rather than a record, because Spark's Kryo 4 reads none. */
  private static final class Seen implements Serializable {
    private static final long serialVersionUID = 1L;

    private final String content;
    private String executor = "none";
    private long copiedOut;
    private long overflowBytes;
    private TreeMap<String, Long> fallbacks = new TreeMap<>();

    private Seen(String content) {
      this.content = content;
      RdmaShuffleReport.collect()
          .ifPresent(
              report -> {
                executor = report.executorId();
                copiedOut = report.counter("blocks.copied-out");
                overflowBytes = report.level("overflow-bytes");
                fallbacks = new TreeMap<>(report.fallbackBlocks());
              });
    }

    private static Seen later(Seen one, Seen other) {
      long blocks = one.fallbacks.values().stream().mapToLong(Long::longValue).sum();
      long others = other.fallbacks.values().stream().mapToLong(Long::longValue).sum();
      return others + other.copiedOut >= blocks + one.copiedOut ? other : one;
    }

    @Override
    public String toString() {
      return content
          + " (executor "
          + executor
          + ", copied out "
          + copiedOut
          + ", overflow memory "
          + overflowBytes
          + ", by Netty "
          + fallbacks
          + ")";
    }
  }

  /** One job. */
  private static final class Shape implements Serializable {
    private static final long serialVersionUID = 1L;

    private final int maps;
    private final int partitions;
    private final int blockBytes;
    private final int heldBytes;

    private Shape(int[] numbers) {
      maps = numbers[0];
      partitions = numbers[1];
      blockBytes = numbers[2] * 1000;
      heldBytes = numbers[3] << 20;
    }

    private static Shape of(String text) {
      return new Shape(List.of(text.split("x")).stream().mapToInt(Integer::parseInt).toArray());
    }

    /** Made one by one: a map holds no more than one of them. */
    private Iterator<Tuple2<Integer, byte[]>> records(int map) {
      byte[] pattern = pattern();
      int recordBytes = Math.min(MOST_RECORD_BYTES, blockBytes);
      int perBlock = blockBytes / recordBytes;
      return IntStream.range(0, partitions * perBlock)
          .mapToObj(i -> new Tuple2<>(i % partitions, record(pattern, map + i, recordBytes)))
          .iterator();
    }

    private static byte[] pattern() {
      return Digest.bytes(190, MOST_RECORD_BYTES + SHIFTS);
    }

    /** A part of the pattern that follows from a number, which it begins with. */
    private static byte[] record(byte[] pattern, int number, int bytes) {
      int shift = number % SHIFTS;
      byte[] record = Arrays.copyOfRange(pattern, shift, shift + bytes);
      ByteBuffer.wrap(record).putInt(number);
      return record;
    }

    private static boolean isRight(byte[] record, byte[] pattern) {
      int shift = ByteBuffer.wrap(record).getInt() % SHIFTS;
      return Arrays.equals(record, 4, record.length, pattern, shift + 4, shift + record.length);
    }

    /** Checks every byte while it holds heap of its own. */
    private Seen read(Iterator<Tuple2<Integer, byte[]>> records) {
      List<byte[]> held = new ArrayList<>();
      for (int bytes = heldBytes; bytes > 0; bytes -= 1 << 20) {
        held.add(new byte[1 << 20]);
      }
      byte[] pattern = pattern();
      long count = 0;
      long bytes = 0;
      while (records.hasNext()) {
        byte[] record = records.next()._2();
        if (!isRight(record, pattern)) {
          throw new IllegalStateException("wrong bytes in record " + count);
        }
        count++;
        bytes += record.length;
      }
      Reference.reachabilityFence(held);
      return new Seen(count + " records of " + bytes + " bytes");
    }
  }
}
