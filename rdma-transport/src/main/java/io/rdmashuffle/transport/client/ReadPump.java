package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.verbs.ReadChain;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Reads granted blocks over one channel: in chains, within a window of bytes and the channel's
 * credits, into memory taken when their turn comes. Progress thread only; {@link #closed} ends it.
 */
final class ReadPump implements LandingMemory.Waiter {
  /** READs posted with one call; longer chains delay the first block more than they save. */
  static final int CHAIN_READS = 32;

  /** Why no more READs can be posted now. */
  private enum Stop {
    NO_BLOCK,
    WINDOW,
    TRANSIT,
    OVERFLOW
  }

  private final ClientContext context;
  private final ReaderChannel channel;
  private final PeerHealth health;
  private final Runnable progress;
  private final LocatedBlocks located = new LocatedBlocks();
  private final Deque<ReadBatch> spares = new ArrayDeque<>();
  private final ReadChain chain = new ReadChain(CHAIN_READS);
  private long backlogBytes;
  private long inFlightBytes;
  private Timer memoryTimer;
  private boolean parked;
  private boolean closed;

  /**
   * @param health hears of blocks that were read
   * @param progress called when there may be more to do for the channel; calls {@link #pump}
   */
  ReadPump(ClientContext context, ReaderChannel channel, PeerHealth health, Runnable progress) {
    this.context = context;
    this.channel = channel;
    this.health = health;
    this.progress = progress;
  }

  void add(PendingBlock block) {
    located.add(block);
    backlogBytes += block.bytes();
  }

  /** Bytes granted whose READs are not posted yet. */
  long backlogBytes() {
    return backlogBytes;
  }

  long inFlightBytes() {
    return inFlightBytes;
  }

  /** Posts what can be posted now. */
  void pump() {
    Stop stop = null;
    while (stop == null && channel.readCredits() > 0) {
      ReadBatch batch = spare();
      stop = fillOrGiveUp(batch, Math.min(CHAIN_READS, channel.readCredits()));
      if (batch.size() == 0) {
        spares.push(batch);
      } else {
        post(batch);
      }
    }
    if (stop == Stop.TRANSIT) {
      awaitMemory(context.memory()::awaitTransit);
    } else if (stop == Stop.OVERFLOW) {
      awaitMemory(context.memory()::awaitOverflow);
    }
  }

  private ReadBatch spare() {
    ReadBatch batch = spares.poll();
    return batch == null ? new ReadBatch(this, CHAIN_READS) : batch;
  }

  /** As {@link #fill}. If that throws, the batch's READs are not posted. */
  private Stop fillOrGiveUp(ReadBatch batch, int limit) {
    boolean filled = false;
    try {
      Stop stop = fill(batch, limit);
      filled = true;
      return stop;
    } finally {
      if (!filled) {
        giveUp(batch);
      }
    }
  }

  /** Returns why it stopped before the batch was full, null if it is full. */
  private Stop fill(ReadBatch batch, int limit) {
    chain.clear();
    while (batch.size() < limit) {
      PendingBlock block = located.first();
      if (block == null) {
        return Stop.NO_BLOCK;
      }
      if (block.landing() == null && !block.isGivenUp()) {
        block.landIn(context.memory().place(block.bytes()));
        if (block.landing() == null && context.memory().isMakingRoomFor(block.bytes())) {
          return Stop.OVERFLOW;
        }
      }
      if (block.isGivenUp()) {
        skip(block);
      } else if (block.landing() == null) {
        // Only tasks could make room, and what a task does must not be waited for.
        context.outcomes().fallBack(block.fetch(), block.index(), noRoomFor(block));
        skip(block);
      } else {
        Stop stop = add(block, batch);
        if (stop != null) {
          return stop;
        }
      }
    }
    return null;
  }

  private FallbackReason noRoomFor(PendingBlock block) {
    return block.bytes() > context.memory().mostBytes()
        ? FallbackReason.TOO_LARGE
        : FallbackReason.NO_MEMORY;
  }

  private void skip(PendingBlock block) {
    located.removeFirst();
    backlogBytes -= block.remote().leftBytes();
    block.drop();
  }

  private Stop add(PendingBlock block, ReadBatch batch) {
    RemoteRange remote = block.remote();
    int wanted = Math.min(remote.contiguous(), context.settings().readBytes());
    long ahead = inFlightBytes + batch.payloadBytes();
    if (ahead > 0 && ahead + wanted > context.settings().windowBytes()) {
      return Stop.WINDOW; // an empty window admits a READ of any size
    }
    Landing landing = block.landing();
    int bytes = landing.reserve(wanted);
    if (bytes == 0) {
      return Stop.TRANSIT;
    }
    chain.add(bytes).from(remote.address(), remote.rkey()).into(landing.address(), landing.lkey());
    CopyOut copy = landing.take();
    if (copy == null) {
      batch.add(block, bytes);
    } else {
      batch.add(block, copy);
    }
    backlogBytes -= bytes;
    block.readPosted(bytes);
    if (remote.leftBytes() == 0) {
      located.removeFirst();
    }
    return null;
  }

  private void post(ReadBatch batch) {
    stopWaiting();
    inFlightBytes += batch.payloadBytes();
    channel.read(chain, context.requestTimeoutNs(), batch);
  }

  void completed(ReadBatch batch) {
    inFlightBytes -= batch.payloadBytes();
    CopyJob copies = null;
    if (batch.copies() > 0) {
      try {
        copies = CopyJob.of(context, batch);
      } finally {
        if (copies == null) {
          giveUp(batch);
        }
      }
    }
    for (int i = 0; i < batch.size(); i++) {
      try {
        completed(batch.block(i));
      } catch (Throwable thrown) { // whatever it is, the other READs have completed as well
        context.loop().fail(thrown);
      }
    }
    if (copies != null) {
      copies.start();
    }
    recycle(batch);
    progress.run();
  }

  private void completed(PendingBlock block) {
    if (block.readCompleted()) {
      health.blockRead();
      if (block.landing() instanceof InPlace place) {
        context.outcomes().landed(block, place.first());
      }
    }
  }

  /** As {@link #failed}; the block of this READ is not asked for again. */
  void refused(ReadBatch batch, int read) {
    PendingBlock block = batch.block(read);
    context.outcomes().fallBack(block.fetch(), block.index(), FallbackReason.READ_REFUSED);
    failed(batch);
  }

  /** The channel is gone, and no adapter writes into this batch's memory any more. */
  void failed(ReadBatch batch) {
    inFlightBytes -= batch.payloadBytes();
    giveUp(batch);
  }

  /** No adapter writes into this batch's memory. */
  private void giveUp(ReadBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.copy(i) != null) {
        batch.copy(i).release();
      }
      batch.block(i).readFailed();
    }
    recycle(batch);
  }

  private void recycle(ReadBatch batch) {
    batch.clear();
    spares.push(batch);
  }

  /** All READs have ended: gives back the memory of blocks that still had some to post. */
  void closed() {
    closed = true;
    stopWaiting();
    if (parked) {
      context.memory().unpark(this);
    }
    for (; located.first() != null; located.removeFirst()) {
      located.first().drop();
    }
    backlogBytes = 0;
  }

  private void awaitMemory(Consumer<LandingMemory.Waiter> line) {
    if (context.memory().isHopeless()) {
      memoryTimeOver();
      return;
    }
    if (memoryTimer == null) {
      memoryTimer = context.loop().schedule(context.memoryTimeoutNs(), this::memoryTimeOver);
    }
    if (!parked) {
      parked = true;
      context.memory().reclaimLost();
      line.accept(this);
    }
  }

  private void stopWaiting() {
    if (memoryTimer != null) {
      memoryTimer.cancel();
      memoryTimer = null;
    }
  }

  @Override
  public void memoryReturned() {
    parked = false;
    if (!closed) {
      progress.run();
    }
  }

  private void memoryTimeOver() {
    stopWaiting();
    for (PendingBlock block = located.first(); block != null; block = block.next()) {
      context.outcomes().fallBackWaiting(block.fetch(), FallbackReason.NO_MEMORY);
    }
    progress.run(); // drops what was just given up
  }
}
