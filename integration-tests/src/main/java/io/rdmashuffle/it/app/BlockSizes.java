package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Blocks of chosen sizes: partition {@code i} gets one record of {@code SIZES[i]} bytes from every
 * map. Serialization adds some bytes, compression some more, so the sizes around a limit come in
 * runs that cross it whatever the overhead: the inline limit of 512 bytes, pages of 4096 bytes, the
 * limit to disk (which the tests set to 2 MiB).
 */
final class BlockSizes {
  private static final int MAPS = 4;
  private static final int[] SIZES = sizes();

  private BlockSizes() {}

  private static int[] sizes() {
    List<Integer> sizes = new ArrayList<>(List.of(0, 1, 2));
    for (int limit : new int[] {512, 4096, 2 << 12}) {
      for (int below = 120; below >= -4; below -= 4) {
        sizes.add(limit - below);
      }
    }
    sizes.addAll(List.of(65_000, 65_536, 1 << 20, (1 << 20) + 1, 3 << 20));
    return sizes.stream().mapToInt(Integer::intValue).toArray();
  }

  static String run(JavaSparkContext context) {
    List<Integer> maps = List.of(0, 1, 2, 3);
    JavaPairRDD<Integer, byte[]> records =
        context
            .parallelize(maps, MAPS)
            .flatMapToPair(
                map -> {
                  List<Tuple2<Integer, byte[]>> out = new ArrayList<>();
                  for (int i = 1; i < SIZES.length; i++) { // the first partition stays empty
                    out.add(new Tuple2<>(i, Digest.bytes(map * 1_000L + i, SIZES[i])));
                  }
                  return out.iterator();
                });
    return Digest.of(
        records
            .partitionBy(new ByKey(SIZES.length))
            .mapValues(value -> value.length + ":" + Digest.crc(value))
            .collect());
  }

  /** The key is the partition. */
  private static final class ByKey extends Partitioner {
    private static final long serialVersionUID = 1L;
    private final int partitions;

    ByKey(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      return (Integer) key;
    }
  }
}
