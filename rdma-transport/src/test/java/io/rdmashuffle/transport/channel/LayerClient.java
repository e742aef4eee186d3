package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Locates and reads one block after the other over one connection, and compares each. */
final class LayerClient implements ReaderChannel.Listener {
  final CountDownLatch opened = new CountDownLatch(1);
  final CountDownLatch ended = new CountDownLatch(1);
  final AtomicInteger blocks = new AtomicInteger();
  final AtomicInteger failures = new AtomicInteger();
  final AtomicReference<String> wrong = new AtomicReference<>();
  final AtomicReference<TransportException> cause = new AtomicReference<>();
  volatile ReaderChannel channel;
  private final LayerRig rig;
  private final int sinkOffset;
  private final ReadChain chain = new ReadChain(4);
  private int remaining;

  /**
   * @param number of the client; each has a part of the sink of its own
   */
  LayerClient(LayerRig rig, int number, int rounds) {
    this.rig = rig;
    this.sinkOffset = number * (LayerRig.REGION_BYTES / 16);
    this.remaining = rounds;
  }

  void await(CountDownLatch latch) throws InterruptedException {
    if (!latch.await(20, TimeUnit.SECONDS)) {
      throw new AssertionError("nothing happens; " + blocks + " blocks, " + cause.get());
    }
    if (wrong.get() != null) {
      throw new AssertionError(wrong.get());
    }
  }

  @Override
  public void onOpen(ReaderChannel open) {
    channel = open;
    opened.countDown();
    next();
  }

  private void next() {
    if (remaining-- == 0) {
      ended.countDown();
      return;
    }
    long output = blocks.get();
    int bytes = 1 + (int) (output * 7919 % 30_000);
    Request locate = new Request.Locate(List.of(new BlockKey(0, output, 0, bytes)), new long[0]);
    channel.request(
        locate,
        10_000_000_000L,
        new ReaderChannel.ReplyHandler() {
          @Override
          public void onReply(Reply reply) {
            read(
                output, ((Reply.Granted) ((Reply.Located) reply).answers().get(0)).pieces().get(0));
          }

          @Override
          public void onFailed(TransportException failure) {
            failures.incrementAndGet();
          }
        });
  }

  /** In up to four parts. */
  private void read(long output, Reply.Piece piece) {
    chain.clear();
    int part = (piece.bytes() + 3) / 4;
    for (int at = 0; at < piece.bytes(); at += part) {
      chain
          .add(Math.min(part, piece.bytes() - at))
          .from(piece.address() + at, piece.rkey())
          .into(rig.sink.address() + sinkOffset + at, rig.sink.lkey());
    }
    channel.read(
        chain,
        10_000_000_000L,
        new ReaderChannel.ReadHandler() {
          @Override
          public void onRead() {
            if (!rig.hasArrived(output, sinkOffset, piece.bytes())) {
              wrong.compareAndSet(null, "block " + output + " of " + piece.bytes() + " is wrong");
            }
            blocks.incrementAndGet();
            next();
          }

          @Override
          public void onFailed(TransportException failure) {
            failures.incrementAndGet();
          }
        });
  }

  @Override
  public void onDialFailed(TransportException failure) {
    cause.set(failure);
    ended.countDown();
  }

  @Override
  public void onClosed(TransportException failure) {
    cause.set(failure);
    ended.countDown();
  }
}
