package org.apache.hadoop.mapreduce.task.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.mapreduce.reduce.SegmentServer;
import io.rdmashuffle.mapreduce.reduce.SegmentServer.Answer;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One turn of the fetcher at one host, against Hadoop's scheduler and a merger that can fail. */
final class RdmaFetcherTest {
  private static final int MAPS = 4;

  @TempDir private Path folder;
  private ShuffleRig rig;
  private ReduceSession session;
  private ShuffleSchedulerImpl<Text, IntWritable> scheduler;
  private final ScriptedMerger merger = new ScriptedMerger();
  private MapHost host;
  private RdmaFetcher<Text, IntWritable> fetcher;

  @BeforeEach
  void open() throws Exception {
    rig = new ShuffleRig(folder);
    rig.maps(MAPS, 100);
    session = rig.session();
    var context = rig.context();
    scheduler =
        new ShuffleSchedulerImpl<>(
            rig.conf,
            context.getStatus(),
            ShuffleRig.REDUCE,
            rig.errors::add,
            context.getCopyPhase(),
            context.getShuffledMapsCounter(),
            context.getReduceShuffleBytes(),
            context.getFailedShuffleCounter());
    for (TaskAttemptID attempt : rig.outputs().attempts()) {
      know(attempt);
    }
    host = scheduler.getHost();
    fetcher =
        new RdmaFetcher<>(
            new CopyParts<>(
                context,
                scheduler,
                merger,
                ShuffleClientMetrics.create(ShuffleRig.REDUCE, rig.conf),
                rig.errors::add,
                session,
                NanoClock.system()));
  }

  private void know(TaskAttemptID attempt) {
    String base = rig.http().url();
    scheduler.addKnownMapOutput(
        base.substring("http://".length()),
        base + "/mapOutput?job=" + MapOutputs.JOB + "&reduce=0&map=",
        attempt);
  }

  @AfterEach
  void everythingWasGivenBackOnce() throws Exception {
    assertThat(rig.blocksLeft()).isZero();
    assertThat(merger.outputs()).allSatisfy(o -> assertThat(o.commits + o.aborts).isEqualTo(1));
    scheduler.close();
    session.close();
    rig.close();
  }

  @Test
  void aTurnCopiesWhatTheHostHas() throws Exception {
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
    assertThat(host.getNumKnownMapOutputs()).isZero();
    assertThat(rig.shuffledMaps()).isEqualTo(MAPS);
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void aMergerWithoutRoomGetsEverythingPutBack() throws Exception {
    merger.reserve = ScriptedMerger.Reserve.WAIT_AFTER_ONE;
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(1);
    assertThat(host.getNumKnownMapOutputs()).isEqualTo(MAPS - 1);
    assertThat(rig.http().requests()).isEmpty();
    merger.reserve = ScriptedMerger.Reserve.ROOM;
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
  }

  @Test
  void aFullLocalDiskIsReportedAndBlamesNobody() throws Exception {
    merger.reserve = ScriptedMerger.Reserve.DISK_FULL;
    fetcher.copyFromHost(host);
    assertThat(rig.errors).hasSize(1);
    assertThat(rig.errors.get(0)).hasMessageContaining("no space");
    assertThatNobodyIsBlamed();
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void aLocalDiskThatFailsWhileWritingIsReportedAndBlamesNobody() throws Exception {
    merger.failure = ScriptedMerger::localFileSystemError;
    fetcher.copyFromHost(host);
    assertThat(rig.errors).hasSize(1);
    assertThatNobodyIsBlamed();
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void errorsOfThisNodeLeaveTheMapsToHttpAndBlameNobody() throws Exception {
    merger.failure = () -> new IOException("the local stream is broken");
    merger.failures = MAPS;
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
    assertThat(rig.http().requests()).hasSize(1);
    assertThatNobodyIsBlamed();
  }

  @Test
  void aCodecThatFailsLeavesTheMapToHttp() throws Exception {
    merger.failure = () -> new InternalError("lzo: corrupt data");
    merger.failures = 1;
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
    assertThat(rig.http().requests())
        .containsExactly(List.of(rig.outputs().attempts().get(0).toString()));
    assertThatNobodyIsBlamed();
  }

  @Test
  void aMissingCodecDoesNotEndTheFetcher() throws Exception {
    merger.failure = () -> new NoClassDefFoundError("com/example/Codec");
    merger.failures = 1;
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
    assertThat(rig.errors).isEmpty();
  }

  @Test
  void theOtherMapsOfTheHostAreKeptOutOfHttpsWay() throws Exception {
    for (int map = 0; map < 30; map++) { // more than a turn takes
      know(MapOutputs.attempt(map % MAPS));
    }
    rig.rdma.script(
        (peer, key) ->
            SegmentServer.mapOf(key) == 2
                ? new Answer.Refuse(FallbackReason.FILE_CHANGED)
                : Answer.DELIVER);
    fetcher.copyFromHost(host);
    assertThat(rig.http().requests()).isNotEmpty();
    assertThat(rig.http().requests())
        .allSatisfy(r -> assertThat(r).containsOnly(MapOutputs.attempt(2).toString()));
    assertThat(host.getNumKnownMapOutputs()).isPositive();
  }

  @Test
  void aSecondAttemptOfAFinishedMapIsAborted() throws Exception {
    TaskAttemptID second = MapOutputs.attempt(1, 1);
    rig.rdma.add(second, rig.outputs().segment(MapOutputs.attempt(1)));
    know(second); // in the same turn, as after speculative execution
    fetcher.copyFromHost(host);
    assertThat(merger.outputs()).hasSize(MAPS + 1);
    assertThat(merger.committed()).isEqualTo(MAPS);
    assertThat(rig.shuffledMaps()).isEqualTo(MAPS);
    assertThat(rig.counted("SEGMENTS_READ")).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void anAttemptThatBecameObsoleteIsNotAskedFor() throws Exception {
    scheduler.obsoleteMapOutput(MapOutputs.attempt(1));
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS - 1);
    assertThat(rig.rdma.requests())
        .allSatisfy(r -> assertThat(r).noneMatch(key -> SegmentServer.mapOf(key) == 1));
    assertThat(rig.http().requests()).isEmpty();
    assertThat(host.getNumKnownMapOutputs()).isZero();
  }

  @Test
  void anAttemptThatBecomesObsoleteOnItsWayCountsAndItsMapIsNotCopiedAgain() throws Exception {
    rig.rdma.script(
        (peer, key) -> {
          scheduler.obsoleteMapOutput(MapOutputs.attempt(1));
          return Answer.DELIVER;
        });
    fetcher.copyFromHost(host);
    assertThat(merger.committed()).isEqualTo(MAPS);
    int requests = rig.rdma.requests().size();
    know(MapOutputs.attempt(1, 1));
    fetcher.copyFromHost(host);
    assertThat(rig.rdma.requests()).hasSize(requests);
    assertThat(rig.shuffledMaps()).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
  }

  @Test
  void anInterruptEndsAWaitForTheHostWithoutHttp() throws Exception {
    rig.rdma.script((peer, key) -> Answer.SILENCE);
    CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(fetcher::interrupt);
    fetcher.copyFromHost(host);
    assertThat(host.getNumKnownMapOutputs()).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
    fetcher.copyFromHost(host);
    assertThat(rig.rdma.requests()).hasSizeLessThanOrEqualTo(2);
  }

  @Test
  void aHostThatRdmaCannotAddressIsLeftToHttp() throws Exception {
    MapHost literal =
        new MapHost("[::1]:1", "http://[::1]:1/mapOutput?job=" + MapOutputs.JOB + "&map=");
    literal.markBusy();
    literal.addKnownMap(MapOutputs.attempt(0));
    fetcher.copyFromHost(literal);
    assertThat(rig.rdma.requests()).isEmpty();
    assertThat(session.admits("[::1]:1")).isFalse();
    assertThat(rig.counted("HOSTS_FALLEN_BACK.not-supported")).isEqualTo(1);
    assertThat(rig.failedShuffles()).isEqualTo(1); // nobody listens there: HTTP's judgement
  }

  private void assertThatNobodyIsBlamed() {
    assertThat(rig.failedShuffles()).isZero();
    assertThat(rig.blamedMaps()).isEmpty();
    assertThat(session.admits(host.getHostName())).isTrue();
    assertThat(scheduler.hostFailureCount(host.getHostName())).isZero();
  }
}
