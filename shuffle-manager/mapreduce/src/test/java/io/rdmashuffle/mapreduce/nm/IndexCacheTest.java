package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.server.OutputFile;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class IndexCacheTest {
  private final Job job = MapOutputFiles.job(1);
  private final Job other = MapOutputFiles.job(2);

  private static SegmentIndex index(int segments) throws IOException {
    return SegmentIndex.of(
        new OutputFile(Path.of("file.out"), 0), new long[segments * SpillIndex.NUMBERS]);
  }

  @Test
  void whatWasAskedForLongestAgoFallsOut() throws IOException {
    SegmentIndex one = index(100);
    IndexCache cache = new IndexCache(3 * one.heapBytes());
    cache.put(job, 1, one);
    cache.put(job, 2, index(100));
    cache.put(job, 3, index(100));
    cache.find(job, 1);

    cache.put(job, 4, index(100));

    assertThat(cache.find(job, 2)).isNull();
    assertThat(cache.find(job, 1)).isSameAs(one);
    assertThat(cache.find(job, 3)).isNotNull();
    assertThat(cache.find(job, 4)).isNotNull();
    assertThat(cache.bytes()).isEqualTo(3 * one.heapBytes());
  }

  @Test
  void oneThatIsTooLargeLeavesNothing() throws IOException {
    IndexCache cache = new IndexCache(1000);
    cache.put(job, 1, index(1));
    cache.put(job, 2, index(1000));

    assertThat(cache.find(job, 1)).isNull();
    assertThat(cache.find(job, 2)).isNull();
    assertThat(cache.bytes()).isZero();
  }

  @Test
  void theSameOutputCountsOnce() throws IOException {
    IndexCache cache = new IndexCache(1 << 20);
    cache.put(job, 1, index(10));
    cache.put(job, 1, index(10));
    assertThat(cache.bytes()).isEqualTo(index(10).heapBytes());
  }

  @Test
  void jobsAreKeptApartAndForgottenOneByOne() throws IOException {
    IndexCache cache = new IndexCache(1 << 20);
    cache.put(job, 1, index(10));
    cache.put(job, 2, index(10));
    cache.put(other, 1, index(20));

    cache.forget(job);

    assertThat(cache.find(job, 1)).isNull();
    assertThat(cache.find(other, 1)).isNotNull();
    assertThat(cache.bytes()).isEqualTo(index(20).heapBytes());
  }
}
