package org.apache.hadoop.mapreduce.task.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.mapreduce.nm.Waiting;
import io.rdmashuffle.mapreduce.reduce.SegmentServer;
import io.rdmashuffle.mapreduce.reduce.SegmentServer.Answer;
import io.rdmashuffle.mapreduce.reduce.TestGates;
import io.rdmashuffle.mapreduce.reduce.TestSegment;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block.Source;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole copy phases: whatever RDMA does, the reducer gets the same records. */
final class CopyPhaseTest {
  private static final int MAPS = 50; // more than one turn of a host has

  @TempDir private Path folder;
  private ShuffleRig rig;

  @BeforeEach
  void open() {
    rig = new ShuffleRig(folder);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    try (ShuffleRig closing = rig) {
      assertThat(closing.blocksLeft()).isZero();
      assertThat(closing.sessionsClosed).hasValue(1);
    }
  }

  @Test
  void everythingComesByRdma() throws Exception {
    rig.maps(MAPS, 200);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(MAPS);
    assertThat(rig.counted("BYTES_READ")).isEqualTo(rig.outputs().partBytes());
    assertThat(rig.counted("SEGMENTS_HTTP")).isZero();
    assertThat(rig.shuffledMaps()).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 50, 99})
  void rdmaThatFailsHalfwayLosesNothing(int percent) throws Exception {
    int maps = 100;
    rig.maps(maps, 100);
    AtomicInteger begun = new AtomicInteger();
    rig.rdma.script(
        (peer, key) ->
            begun.addAndGet(key.group() == SegmentServer.LENGTH ? 1 : 0) <= percent * maps / 100
                ? Answer.DELIVER
                : new Answer.Refuse(FallbackReason.TRANSFER_FAILED));
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    long byRdma = rig.counted("SEGMENTS_READ");
    assertThat(byRdma)
        .as("what came before it failed")
        .isBetween(percent * 8 / 10L, (long) percent);
    assertThat(rig.counted("SEGMENTS_HTTP")).isEqualTo(maps - byRdma);
    assertThat(rig.counted("HOSTS_FALLEN_BACK")).isEqualTo(1);
    assertThat(rig.counted("HOSTS_FALLEN_BACK.transfer-failed")).isEqualTo(1);
    assertThat(rig.failedShuffles()).isZero();
    assertThat(rig.blamedMaps()).isEmpty();
  }

  @Test
  void aSegmentThatBreaksOffIsFetchedAgain() throws Exception {
    rig.maps(3, 2000);
    rig.rdma.script(
        (peer, key) ->
            SegmentServer.mapOf(key) == 1 && key.group() == 2
                ? new Answer.Refuse(FallbackReason.NO_MEMORY)
                : Answer.DELIVER);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(2);
    assertThat(rig.http().requests()).containsExactly(List.of(MapOutputs.attempt(1).toString()));
    assertThat(rig.counted("HOSTS_FALLEN_BACK")).isZero();
  }

  /** Of the beginning of a segment, or of a later part; the other segments come, and later ones. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void aRefusedReadCostsItsOwnSegmentOnly(int piece) throws Exception {
    rig.maps(MAPS, 2000);
    rig.rdma.script(
        (peer, key) ->
            SegmentServer.mapOf(key) == 1 && key.group() == piece
                ? new Answer.Refuse(FallbackReason.READ_REFUSED)
                : Answer.DELIVER);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(MAPS - 1);
    assertThat(rig.http().requests()).containsExactly(List.of(MapOutputs.attempt(1).toString()));
    assertThat(rig.counted("HOSTS_FALLEN_BACK")).isZero();
    assertThat(rig.blamedMaps()).isEmpty();
  }

  @Test
  void emptyAndTinySegmentsCome() throws Exception {
    rig.rdma.deliverBy(Source.INLINE);
    rig.maps(MAPS, 0);
    assertThat(rig.run()).isEmpty();
    assertThat(rig.counted("SEGMENTS_INLINE")).isEqualTo(MAPS);
    assertThat(rig.counted("BYTES_INLINE")).isEqualTo(rig.outputs().partBytes());
  }

  @Test
  void compressedSegmentsCome() throws Exception {
    DefaultCodec codec = new DefaultCodec();
    codec.setConf(rig.conf);
    rig.compress(codec);
    rig.rdma.deliverBy(Source.STAGED);
    rig.maps(5, 3000);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_STAGED")).isEqualTo(5);
  }

  @Test
  void segmentsThatMemoryCannotHoldGoToDisk() throws Exception {
    rig.conf.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 20_000);
    rig.maps(5, 2000);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(5);
  }

  @Test
  void fetchersThatMustWaitForMemoryComeBack() throws Exception {
    rig.conf.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 40_000); // about three segments
    rig.maps(MAPS, 300);
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void aCorruptSegmentComesByHttpInstead() throws Exception {
    rig.maps(10, 500);
    byte[] broken = rig.outputs().segment(MapOutputs.attempt(4)).content().apply(0);
    broken[broken.length / 2] ^= 0x55;
    rig.rdma.add(
        MapOutputs.attempt(4),
        TestSegment.of(broken, rig.outputs().segment(MapOutputs.attempt(4)).rawBytes()));
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(9);
    assertThat(rig.http().requests()).containsExactly(List.of(MapOutputs.attempt(4).toString()));
    assertThat(rig.failedShuffles()).isZero();
  }

  @Test
  void aMapOutputThatIsGoneIsJudgedByHttpAlone() throws Exception {
    rig.maps(10, 100);
    String gone = MapOutputs.attempt(7).toString();
    rig.http().lose(MapOutputs.attempt(7));
    rig.rdma.script(
        (peer, key) ->
            SegmentServer.mapOf(key) == 7
                ? new Answer.Refuse(FallbackReason.UNKNOWN_BLOCK)
                : Answer.DELIVER);
    // As if the map had run again: the host has the output at the third request.
    CompletableFuture<Map<String, Integer>> result = new CompletableFuture<>();
    Thread reducer =
        new Thread(
            () -> {
              try {
                result.complete(rig.run());
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            },
            "test-reducer");
    reducer.start();
    Waiting.until(() -> rig.http().requests().size() >= 2);
    rig.http().find(MapOutputs.attempt(7));
    assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo(rig.outputs().sums());
    assertThat(rig.http().requests()).allSatisfy(r -> assertThat(r).containsExactly(gone));
    assertThat(rig.blamedMaps()).allSatisfy(m -> assertThat(m).hasToString(gone));
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(9);
    assertThat(rig.counted("SEGMENTS_HTTP")).isEqualTo(1);
  }

  @Test
  void aHostThatKeepsSilentIsWaitedForOnce() throws Exception {
    rig.maps(MAPS, 100);
    rig.rdma.script((peer, key) -> Answer.SILENCE);
    long begin = System.nanoTime();
    assertThat(rig.run()).isEqualTo(rig.outputs().sums());
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertThat(took)
        .isBetween(TestGates.PIECE_TIMEOUT, TestGates.PIECE_TIMEOUT.multipliedBy(2).plusSeconds(8));
    assertThat(rig.rdma.requests()).hasSize(1);
    assertThat(rig.counted("SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(rig.failedShuffles()).isZero();
  }

  @Test
  void anInterruptedReducerEndsAtOnceAndLeavesNoThread() throws Exception {
    rig.maps(MAPS, 100);
    rig.rdma.script((peer, key) -> Answer.SILENCE);
    rig.http().loseAll();
    Thread self = Thread.currentThread();
    CompletableFuture.runAsync(
        () -> {
          Waiting.until(() -> !rig.rdma.requests().isEmpty());
          self.interrupt();
        });
    assertThatThrownBy(rig::run).isInstanceOf(InterruptedException.class);
    Waiting.until(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("rdma-fetcher")));
  }
}
