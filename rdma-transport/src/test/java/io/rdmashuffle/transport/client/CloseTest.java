package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.STOPPING;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Closing the client while something is under way. */
final class CloseTest {
  private final Owner owner = new Owner(10_000);

  @Test
  void aFetchAfterCloseFallsBack() {
    ClientRig rig = new ClientRig();
    rig.client.close();
    rig.client.close();
    rig.settle();

    assertThat(rig.fetch(2).reasons()).containsOnly(STOPPING);
    rig.close();
  }

  @Test
  void aFetchAfterTheDeliveryThreadsAreGoneIsStillTold() throws Exception {
    ClientRig rig = new ClientRig();
    rig.client.close();
    rig.settle();
    rig.threads.delivery().shutDown();
    rig.loop.stop();

    CountDownLatch told = new CountDownLatch(1);
    rig.client.fetch(
        ClientRig.PEER,
        rig.keys(1),
        new BlockClient.FetchListener() {
          @Override
          public void onBlock(int index, Block block) {
            throw new AssertionError("a block after close");
          }

          @Override
          public void onFallback(int[] indices, io.rdmashuffle.transport.FallbackReason reason) {
            told.countDown();
          }
        });

    assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aFetchTakenInBeforeCloseIsToldEvenIfTheLoopEndsWithIt() {
    ClientRig rig = new ClientRig();
    Results results = new Results(rig.keys(2));
    rig.client.fetch(ClientRig.PEER, results.keys(), results);
    rig.client.close();
    rig.loop.execute(rig.loop::stop);

    rig.settle();

    assertThat(results.reasons()).containsOnly(STOPPING);
  }

  @Test
  void fetchesInEveryStateFallBackAtOnce() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(30_000));
    ScriptedReaderChannel channel = rig.connected(owner);
    Results reading = rig.fetch(10);
    rig.answerRequests(channel, owner);
    Results locating = rig.fetch(10);
    rig.fetch(new Peer("dialled", "h", 1), rig.keys(1));
    rig.awaitDial();
    Results dialling = rig.fetch(new Peer("dialled", "h", 1), rig.keys(1));
    rig.discovery.manual();
    Results discovering = rig.fetch(new Peer("asked", "h", 1), rig.keys(1));

    rig.client.close();
    rig.settle();

    assertThat(reading.reasons()).containsOnly(STOPPING);
    assertThat(locating.reasons()).containsOnly(STOPPING);
    assertThat(dialling.reasons()).containsOnly(STOPPING);
    assertThat(discovering.reasons()).containsOnly(STOPPING);
    assertThat(rig.pool.chunksOut()).as("the adapter may still write").isPositive();
    channel.finishClose();
    rig.close();
  }

  @Test
  void blocksHeldByConsumersStayValid() {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    Results results = rig.fetch(3);
    rig.serve(channel, owner);

    rig.client.close();
    rig.settle();
    channel.finishClose();
    rig.settle();

    results.checkAndClose(owner);
    rig.close();
  }

  @Test
  void closeWhileABlockIsBeingCopiedOut() {
    ClientRig rig = new ClientRig(Setup.standard().withChunks(3, 2));
    ScriptedReaderChannel channel = rig.connected(owner);
    rig.threads.copy().pause();
    Results results = rig.fetch(1);
    owner.place(results.keys().get(0), 150_000);
    rig.answerRequests(channel, owner);
    rig.complete(channel.reads().get(0));
    rig.settle();

    rig.client.close();
    rig.settle();
    channel.finishClose();
    assertThat(results.reasons()).containsOnly(STOPPING);
    rig.threads.copy().resume();
    rig.settle();
    rig.close();
  }

  @Test
  void closingWaitsUntilNoAdapterWritesAnyMore() throws Exception {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    rig.fetch(3);
    rig.answerRequests(channel, owner);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(rig.client::close);

    rig.loop.runUntil(() -> channel.closeCause() != null);
    rig.advance(Duration.ofMillis(100));
    assertThat(closed).isNotDone();
    channel.finishClose();
    rig.settle();

    closed.get(10, TimeUnit.SECONDS);
    rig.close();
  }

  @Test
  void noTimerIsLeftBehind() {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    Results results = rig.fetch(10);
    rig.answerRequests(channel, owner);
    rig.fetch(new Peer("asked", "h", 1), rig.keys(1));

    rig.client.close();
    rig.settle();
    channel.finishClose();
    rig.settle();

    assertThat(rig.loop.pendingTimers()).isZero();
    assertThat(results.isComplete()).isTrue();
    rig.close();
  }
}
