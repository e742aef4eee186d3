package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.wire.Reply;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What a block promises to whoever holds it, wherever its bytes are. */
final class BlockTest {
  private static final int BYTES = 150_000; // three chunks

  private final ClientRig rig = new ClientRig();
  private final Owner owner = new Owner(BYTES);
  private ScriptedReaderChannel channel;
  private byte[] content;
  private byte first;

  private Block landed() {
    channel = rig.connected(owner);
    Results results = rig.fetch(1);
    rig.serve(channel, owner);
    content = owner.content(results.keys().get(0));
    return results.block(0);
  }

  private void end() {
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aStreamReadsAcrossChunksInAnyPortions() throws IOException {
    Block block = landed();
    InputStream in = block.stream();

    ByteArrayOutputStream read = new ByteArrayOutputStream();
    byte[] portion = new byte[7001];
    read.write(in.read());
    assertThat(in.available()).isEqualTo(BYTES - 1);
    for (int n = in.read(portion, 3, 6000); n >= 0; n = in.read(portion, 3, 6000)) {
      read.write(portion, 3, n);
    }

    assertThat(read.toByteArray()).isEqualTo(content);
    assertThat(in.read()).isEqualTo(-1);
    assertThat(in.available()).isZero();
    assertThat(in.read(portion, 0, 0)).isZero();
    block.close();
    end();
  }

  @Test
  void aStreamSkipsAndTransfers() throws IOException {
    Block block = landed();
    InputStream in = block.stream();

    assertThat(in.skip(-1)).isZero();
    assertThat(in.skip(100_000)).isEqualTo(100_000);
    in.skipNBytes(1000);
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    assertThat(in.transferTo(rest)).isEqualTo(BYTES - 101_000);

    assertThat(rest.toByteArray()).isEqualTo(Arrays.copyOfRange(content, 101_000, BYTES));
    assertThat(in.skip(1)).isZero();
    assertThatThrownBy(() -> in.skipNBytes(1)).isInstanceOf(EOFException.class);
    block.close();
    end();
  }

  @Test
  void streamsAreIndependent() throws IOException {
    Block block = landed();
    try (InputStream first = block.stream();
        InputStream second = block.stream()) {
      first.skipNBytes(10);
      assertThat(second.readAllBytes()).isEqualTo(content);
      assertThat(first.readAllBytes()).hasSize(BYTES - 10);
    }
    assertThat(Results.bytes(block)).as("closing a stream leaves the block open").hasSize(BYTES);
    block.close();
    end();
  }

  @Test
  void aStreamOfAClosedBlockThrowsAndNamesTheBlock() throws IOException {
    Block block = landed();
    InputStream in = block.stream();
    assertThat(in.read()).isNotNegative();
    block.close();

    assertThatThrownBy(in::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("3/1/5-6 of 1@host-1:7337")
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> in.read(new byte[1])).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> in.skip(1)).isInstanceOf(IOException.class);
    assertThatThrownBy(in::available).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> block.stream().read()).isInstanceOf(IOException.class);
    assertThatThrownBy(block::buffer).isInstanceOf(IllegalStateException.class);
    end();
  }

  @Test
  void closingTwiceGivesTheMemoryBackOnce() {
    Block block = landed();
    block.close();
    block.close();
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void theBufferIsAViewOfABlockInOnePieceAndACopyOfOneInSeveral() {
    Block scattered = landed();
    assertThat(scattered.buffer().remaining()).isEqualTo(BYTES);
    byte[] joined = new byte[BYTES];
    scattered.buffer().get(joined);
    assertThat(joined).isEqualTo(content);
    scattered.close();

    owner.place(rig.keys(1).get(0), 100);
    Results small = rig.fetch(1);
    owner.place(small.keys().get(0), 100);
    rig.serve(channel, owner);
    ByteBuffer view = small.block(0).buffer();
    assertThat(view.remaining()).isEqualTo(100);
    assertThat(view.hasArray() && view.array().length == 100).as("a copy").isFalse();
    small.checkAndClose(owner);
    end();
  }

  @Test
  void anInlineBlockBehavesLikeAnyOther() throws IOException {
    Owner inliner = new Owner(300);
    inliner.answerWith(key -> new Reply.Inline(0, inliner.content(key)));
    channel = rig.connected(inliner);
    Results results = rig.fetch(1);
    rig.serve(channel, inliner);
    Block block = results.block(0);

    InputStream in = block.stream();
    assertThat(in.readNBytes(10)).hasSize(10);
    assertThat(block.buffer().remaining()).isEqualTo(300);
    block.close();
    block.close();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class);
    end();
  }

  @Test
  void aBlockMayBeClosedByAnotherThreadWhileItIsRead() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int i = 0; i < 50; i++) {
        channel = channel == null ? rig.connected(owner) : channel;
        Results results = rig.fetch(1);
        rig.serve(channel, owner);
        Block block = results.block(0);
        byte[] expected = owner.content(results.keys().get(0));
        CountDownLatch started = new CountDownLatch(1);
        Future<Integer> read = threads.submit(() -> readUntilClosed(block, expected, started));
        started.await();
        threads.submit(block::close).get();
        assertThat(read.get()).isBetween(0, BYTES);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  /** Returns how many right bytes it read before it was told that the block is closed. */
  private static int readUntilClosed(Block block, byte[] expected, CountDownLatch started)
      throws IOException {
    InputStream in = block.stream();
    int at = 0;
    try {
      started.countDown();
      for (int value = in.read(); value >= 0; value = in.read()) {
        assertThat((byte) value).isEqualTo(expected[at]);
        at++;
      }
    } catch (IOException expectedWhenClosed) {
      assertThat(expectedWhenClosed).hasMessageContaining("closed");
    }
    return at;
  }

  @Test
  void memoryStaysUntilAReadInProgressHasEnded() {
    LandedBlock block = (LandedBlock) landed();
    assertThat(block.tryBeginRead()).isTrue();
    assertThat(block.tryBeginRead()).isTrue();

    block.close();
    assertThat(block.tryBeginRead()).isFalse();
    block.endRead();
    assertThat(rig.chunksHeld()).isPositive();
    block.endRead();

    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void theMemoryOfABlockThatWasDroppedIsTakenBackAndCounted() {
    channel = rig.connected(owner);
    dropBlocks();

    collectUntilCounted(3);

    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void theMemoryUnderALentBufferIsNotTakenBack() {
    ClientRig leaky = new ClientRig(Setup.standard());
    ScriptedReaderChannel open = leaky.connected(owner);
    ByteBuffer view = lentView(leaky, open);
    for (int i = 0; i < 100 && leaky.counters.value(Counter.BLOCKS_LOST) == 0; i++) {
      System.gc();
      leaky.advance(Duration.ofSeconds(1));
      if (open.closeCause() == null) {
        leaky.serve(open, owner);
      }
    }

    assertThat(leaky.counters.value(Counter.BLOCKS_LOST)).isEqualTo(1);
    assertThat(leaky.chunksHeld()).isEqualTo(1);
    assertThat(view.get(0)).isEqualTo(first);
    leaky.fail(open);
    leaky.client.close();
    leaky.settle();
  }

  private ByteBuffer lentView(ClientRig leaky, ScriptedReaderChannel open) {
    Results results = leaky.fetch(1);
    owner.place(results.keys().get(0), 100);
    leaky.serve(open, owner);
    first = owner.content(results.keys().get(0))[0];
    return results.block(0).buffer();
  }

  private void dropBlocks() {
    Results results = rig.fetch(3);
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(3);
  }

  private void collectUntilCounted(int lost) {
    for (int i = 0; i < 100 && rig.counters.value(Counter.BLOCKS_LOST) < lost; i++) {
      System.gc();
      rig.advance(Duration.ofSeconds(1));
      if (channel.closeCause() == null) {
        rig.serve(channel, owner);
      }
    }
    assertThat(rig.counters.value(Counter.BLOCKS_LOST)).isEqualTo(lost);
  }
}
