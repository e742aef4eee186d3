package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.mapreduce.reduce.SegmentServer.Answer;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SegmentBatchTest {
  private static final int PIECE = 1000;
  private final BatchLimits limits = TestGates.limits(PIECE, 8, Duration.ofSeconds(20));
  private static final Peer PEER = new Peer("node:13562", "node", 13563);

  private final SegmentServer server = new SegmentServer(PIECE);

  @AfterEach
  void everythingWasGivenBack() throws Exception {
    server.settle();
    assertThat(server.blocksOut()).isZero();
    server.close();
  }

  @Test
  void segmentsComeInTheOrderAskedWithTheirLengths() throws Exception {
    List<byte[]> contents = serve(5, 300);
    try (SegmentBatch batch = batch(5, limits)) {
      for (int map = 0; map < 5; map++) {
        Segment segment = (Segment) batch.next().orElseThrow();
        assertThat(segment.attempt()).isEqualTo(attempt(map));
        assertThat(segment.partBytes()).isEqualTo(300);
        assertThat(segment.rawBytes()).isEqualTo(700 + map);
        assertThat(segment.stream().readAllBytes()).isEqualTo(contents.get(map));
        assertThat(segment.stream().read()).isEqualTo(-1);
      }
      assertThat(batch.next()).isEmpty();
      assertThat(batch.usedBytes()).isZero();
    }
  }

  @Test
  void smallSegmentsShareARequest() throws Exception {
    serve(4, 10);
    try (SegmentBatch batch = batch(4, limits)) {
      readAll(batch);
    }
    assertThat(server.requests()).hasSize(1);
    assertThat(server.requests().get(0)).hasSize(8); // lengths and first pieces
  }

  @Test
  void segmentsOfSeveralPiecesComeByFewRequests() throws Exception {
    List<byte[]> contents = serve(20, 4 * PIECE);
    BatchLimits wide = TestGates.limits(PIECE, 16, Duration.ofSeconds(20));
    try (SegmentBatch batch = batch(20, wide)) {
      for (byte[] content : contents) {
        Segment segment = (Segment) batch.next().orElseThrow();
        assertThat(segment.stream().readAllBytes()).isEqualTo(content);
      }
    }
    assertThat(server.requests()).hasSizeLessThanOrEqualTo(20); // for 80 pieces
  }

  @Test
  void theRestOfAllSegmentsThatHaveBegunIsAskedForAtOnce() throws Exception {
    serve(20, 4 * PIECE);
    BatchLimits wide = TestGates.limits(PIECE, 120, Duration.ofSeconds(20));
    try (SegmentBatch batch = batch(20, wide)) {
      server.settle();
      server.settle();
      assertThat(server.requests().stream().map(List::size)).containsExactly(40, 60);
      readAll(batch);
    }
  }

  @Test
  void smallSegmentsBeyondTheWindowAreAskedForSeveralAtATime() throws Exception {
    int maps = 41;
    serve(maps, 10);
    try (SegmentBatch batch = batch(maps, limits)) {
      readAll(batch);
    }
    List<Integer> heads = server.requests().stream().map(keys -> keys.size() / 2).toList();
    assertThat(heads.stream().mapToInt(Integer::intValue).sum()).isEqualTo(maps);
    assertThat(heads.subList(0, heads.size() - 1)).allMatch(asked -> asked >= 2);
    assertThat(heads).as("room is kept for short ones then").anyMatch(asked -> asked > 4);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aPieceOfAnotherLengthThanItShouldHaveIsNotBelieved(int piece) throws Exception {
    serve(1, 3 * PIECE);
    server.script((peer, key) -> key.group() == piece ? new Answer.Cut() : Answer.DELIVER);
    try (SegmentBatch batch = batch(1, limits)) {
      assertThatThrownBy(() -> ((Segment) batch.next().orElseThrow()).stream().readAllBytes())
          .isInstanceOf(SegmentLostException.class)
          .hasMessageContaining(FallbackReason.TRANSFER_FAILED.label());
    }
  }

  @Test
  void segmentsOfOnePieceFillTheWindowOnceThatIsKnown() throws Exception {
    serve(8, PIECE);
    for (int i = 0; i < 2; i++) {
      try (SegmentBatch batch = batch(8, limits)) {
        readAll(batch);
      }
    }
    int asked = server.requests().size();
    assertThat(server.requests().get(0)).as("room is left for what comes behind").hasSize(8);
    assertThat(server.requests().get(asked - 1)).as("lengths and first pieces").hasSize(16);
  }

  @Test
  void aLargeSegmentStreamsWithinTheWindow() throws Exception {
    List<byte[]> contents = serve(3, 100 * PIECE + 17);
    try (SegmentBatch batch = batch(3, limits)) {
      for (byte[] content : contents) {
        Segment segment = (Segment) batch.next().orElseThrow();
        assertThat(segment.stream().readAllBytes()).isEqualTo(content);
      }
    }
    assertThat(server.mostBytesOut()).isBetween(2L * PIECE, 9L * PIECE);
  }

  @Test
  void aSegmentBeyondTwoGigabytesStreams() throws Exception {
    int piece = 4 << 20;
    SegmentServer large = new SegmentServer(piece);
    long bytes = (2L << 30) + 12_345;
    byte[] zeros = new byte[piece];
    large.add(attempt(0), new TestSegment(bytes * 2, bytes, offset -> zeros));
    BatchLimits fewAtATime = TestGates.limits(piece, 4, Duration.ofSeconds(20));
    try (SegmentBatch batch =
        new SegmentBatch(large, PEER, SegmentServer.keys(0), fewAtATime, List.of(attempt(0)))) {
      Segment segment = (Segment) batch.next().orElseThrow();
      assertThat(segment.partBytes()).isEqualTo(bytes);
      byte[] buffer = new byte[1 << 20];
      long read = 0;
      for (int n = segment.stream().read(buffer); n >= 0; n = segment.stream().read(buffer)) {
        read += n;
      }
      assertThat(read).isEqualTo(bytes);
    }
    large.settle();
    assertThat(large.blocksOut()).isZero();
    assertThat(large.mostBytesOut()).isLessThanOrEqualTo(5L * piece);
    large.close();
  }

  @Test
  void anEmptySegmentIsAnEmptyStream() throws Exception {
    serve(2, 0);
    try (SegmentBatch batch = batch(2, limits)) {
      Segment segment = (Segment) batch.next().orElseThrow();
      assertThat(segment.partBytes()).isZero();
      assertThat(segment.stream().read()).isEqualTo(-1);
      assertThat(batch.next()).isPresent();
      assertThat(batch.next()).isEmpty();
    }
  }

  @Test
  void aSegmentThatIsLeftUnreadGivesItsMemoryBack() throws Exception {
    List<byte[]> contents = serve(2, 50 * PIECE);
    try (SegmentBatch batch = batch(2, limits)) {
      Segment first = (Segment) batch.next().orElseThrow();
      assertThat(first.stream().read()).isEqualTo(contents.get(0)[0] & 0xff);
      Segment second = (Segment) batch.next().orElseThrow();
      assertThat(second.stream().readAllBytes()).isEqualTo(contents.get(1));
    }
  }

  @Test
  void aRefusedSegmentLeavesTheOthersAlone() throws Exception {
    serve(4, 100);
    server.script(
        (peer, key) ->
            SegmentServer.mapOf(key) == 2
                ? new Answer.Refuse(FallbackReason.UNKNOWN_BLOCK)
                : Answer.DELIVER);
    try (SegmentBatch batch = batch(4, limits)) {
      List<Arrival> arrivals = new ArrayList<>();
      for (Optional<Arrival> a = batch.next(); a.isPresent(); a = batch.next()) {
        arrivals.add(a.get());
      }
      assertThat(arrivals).hasSize(4);
      assertThat(arrivals.get(2))
          .isEqualTo(new Arrival.Refused(attempt(2), FallbackReason.UNKNOWN_BLOCK));
      assertThat(arrivals.get(3)).isInstanceOf(Segment.class);
    }
  }

  @Test
  void aHostThatCannotBeReachedEndsTheBatch() throws Exception {
    serve(4, 100);
    server.script((peer, key) -> new Answer.Refuse(FallbackReason.CONNECT_FAILED));
    try (SegmentBatch batch = batch(4, limits)) {
      assertThatThrownBy(batch::next)
          .isInstanceOf(SegmentLostException.class)
          .hasMessageContaining("node:13562")
          .hasMessageContaining("connect-failed");
    }
  }

  @Test
  void aSegmentLostHalfwaySaysWhy() throws Exception {
    serve(1, 20 * PIECE);
    server.script(
        (peer, key) ->
            key.group() >= 10 && key.group() != SegmentServer.LENGTH
                ? new Answer.Refuse(FallbackReason.TRANSFER_FAILED)
                : Answer.DELIVER);
    try (SegmentBatch batch = batch(1, limits)) {
      Segment segment = (Segment) batch.next().orElseThrow();
      assertThatThrownBy(() -> segment.stream().readAllBytes())
          .isInstanceOf(SegmentLostException.class);
      assertThat(segment.stream().failure().reason()).isEqualTo(FallbackReason.TRANSFER_FAILED);
    }
  }

  @Test
  void silenceEndsTheWait() throws Exception {
    serve(1, 100);
    server.script((peer, key) -> Answer.SILENCE);
    BatchLimits impatient = TestGates.limits(PIECE, 8, Duration.ofMillis(50));
    try (SegmentBatch batch = batch(1, impatient)) {
      assertThatThrownBy(batch::next)
          .isInstanceOf(SegmentLostException.class)
          .hasMessageContaining("50 ms");
    }
  }

  @Test
  void cancelEndsTheWaitOfTheReader() throws Exception {
    serve(1, 100);
    server.script((peer, key) -> Answer.SILENCE);
    try (SegmentBatch batch = batch(1, limits)) {
      CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(batch::cancel);
      assertThatThrownBy(batch::next).isInstanceOf(SegmentLostException.class);
    }
  }

  @Test
  void anInterruptEndsTheWaitOfTheReader() throws Exception {
    serve(1, 20 * PIECE);
    server.script(
        (peer, key) ->
            key.group() == 0 || key.group() == SegmentServer.LENGTH
                ? Answer.DELIVER
                : Answer.SILENCE);
    try (SegmentBatch batch = batch(1, limits)) {
      Segment segment = (Segment) batch.next().orElseThrow();
      segment.stream().readNBytes(PIECE);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> segment.stream().read()).isInstanceOf(SegmentLostException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aPieceOfTheWrongLengthIsNotBelieved() throws Exception {
    byte[] bytes = new byte[3 * PIECE];
    server.add(attempt(0), TestSegment.of(bytes, 1));
    SegmentServer shifted = new SegmentServer(PIECE - 1); // serves shorter pieces
    shifted.add(attempt(0), TestSegment.of(bytes, 1));
    try (SegmentBatch batch =
        new SegmentBatch(shifted, PEER, SegmentServer.keys(0), limits, List.of(attempt(0)))) {
      assertThatThrownBy(batch::next).isInstanceOf(SegmentLostException.class);
    }
    shifted.settle();
    assertThat(shifted.blocksOut()).isZero();
    shifted.close();
  }

  @ParameterizedTest
  @CsvSource({"-1, 10", "10, -1", "10, -5"})
  void negativeLengthsAreNotBelieved(long rawBytes, long partBytes) {
    server.add(attempt(0), new TestSegment(rawBytes, partBytes, offset -> new byte[10]));
    try (SegmentBatch batch = batch(1, limits)) {
      assertThatThrownBy(batch::next).isInstanceOf(SegmentLostException.class);
    }
  }

  @Test
  void aSegmentOfMorePiecesThanThereAreNamesIsLeftToHttp() throws Exception {
    long bytes = (long) Integer.MAX_VALUE * PIECE;
    server.add(attempt(0), new TestSegment(bytes, bytes, offset -> new byte[PIECE]));
    try (SegmentBatch batch = batch(1, limits)) {
      assertThat(batch.next().orElseThrow())
          .isEqualTo(new Arrival.Refused(attempt(0), FallbackReason.TOO_LARGE));
    }
  }

  @Test
  void aBatchClosedInTheMiddleOfASegmentGivesItsMemoryBack() throws Exception {
    serve(3, 50 * PIECE);
    SegmentBatch batch = batch(3, limits);
    Segment first = (Segment) batch.next().orElseThrow();
    first.stream().readNBytes(PIECE + 10);
    batch.close();
    server.settle();
    assertThat(batch.usedBytes()).isZero();
    assertThat(first.stream().read()).isEqualTo(-1);
  }

  @Test
  void whatComesAfterTheEndIsClosed() throws Exception {
    serve(8, 900);
    SegmentBatch batch = batch(8, limits);
    batch.close();
    batch.close();
    server.settle();
    assertThat(batch.usedBytes()).isZero();
  }

  @Test
  void aClientThatThrowsIsAFailedHost() {
    SegmentServer closed = new SegmentServer(PIECE);
    closed.close(); // its executor refuses
    SegmentKeys keys = SegmentServer.keys(0);
    try (SegmentBatch batch = new SegmentBatch(closed, PEER, keys, limits, List.of(attempt(0)))) {
      assertThatThrownBy(batch::next).isInstanceOf(SegmentLostException.class);
    }
  }

  /** Its reader goes on by HTTP at once, instead of waiting for what will not come. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aShortageCostsNoMoreThanTheBatch(int failingRequest) throws Exception {
    serve(8, 20 * PIECE);
    AtomicInteger requests = new AtomicInteger();
    BlockClient failing =
        new BlockClient() {
          @Override
          public void fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
            if (requests.incrementAndGet() == failingRequest) {
              throw new OutOfMemoryError("scripted");
            }
            server.fetch(peer, keys, listener);
          }

          @Override
          public void forget(String peerId) {}

          @Override
          public void close() {}
        };
    List<TaskAttemptID> attempts = IntStream.range(0, 8).mapToObj(map -> attempt(map)).toList();
    long startNs = NanoClock.system().nanoTime();
    SegmentBatch batch = new SegmentBatch(failing, PEER, SegmentServer.keys(0), limits, attempts);
    try (batch) {
      assertThatThrownBy(() -> readAll(batch)).isInstanceOf(SegmentLostException.class);
    }
    server.settle();
    assertThat(batch.usedBytes()).isZero();
    Duration took = Duration.ofNanos(NanoClock.system().nanoTime() - startNs);
    assertThat(took).isLessThan(limits.pieceTimeout());
  }

  private SegmentBatch batch(int maps, BatchLimits itsLimits) {
    List<TaskAttemptID> attempts =
        IntStream.range(0, maps).mapToObj(SegmentBatchTest::attempt).toList();
    return new SegmentBatch(server, PEER, SegmentServer.keys(0), itsLimits, attempts);
  }

  private List<byte[]> serve(int maps, int bytes) {
    List<byte[]> contents = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      byte[] content = new byte[bytes];
      Arrays.fill(content, (byte) (map + 1));
      for (int i = 0; i < bytes; i += 7) {
        content[i] = (byte) i;
      }
      contents.add(content);
      server.add(attempt(map), TestSegment.of(content, 700 + map));
    }
    return contents;
  }

  private static void readAll(SegmentBatch batch) throws IOException, InterruptedException {
    for (Optional<Arrival> a = batch.next(); a.isPresent(); a = batch.next()) {
      ((Segment) a.get()).stream().readAllBytes();
    }
  }

  private static TaskAttemptID attempt(int map) {
    return new TaskAttemptID(new TaskID(new JobID("test", 1), TaskType.MAP, map), 0);
  }
}
