package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * Map outputs of one host on their way to one fetcher, which reads them one after the other.
 * Requests run ahead of it within a window of bytes: the rest of the segments that have begun to
 * come first, then the beginnings of the next ones, which may take half of the window, or all of it
 * while no segment has more than a beginning. So small segments come many to a request, and large
 * ones stream.
 *
 * <p><b>Threads:</b> one reads; {@link #cancel} is for any; the transport's threads deliver. The
 * lock is held for moments only and never while anybody waits for the network. <b>Ownership:</b>
 * closing it gives back all memory and drops what is still under way.
 */
public final class SegmentBatch implements AutoCloseable {
  /** Stands for the length among the numbers of pieces. */
  private static final int LENGTH = -1;

  /**
   * Requests are for at least this part of the window, as long as there is as much to ask for: each
   * costs both sides about the same, for one piece or for many. The other part is read meanwhile.
   */
  private static final int REQUESTS_PER_WINDOW = 2;

  private final BlockClient client;
  private final Peer peer;
  private final SegmentKeys keys;
  private final BatchLimits limits;
  private final BatchWindow window;
  private final List<InFlight> segments = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock(); // between reader and delivery threads
  private final Condition changed = lock.newCondition();
  private SegmentStream stream; // of the segment being read; null before the first
  private int at = -1;
  private int nextHead;
  private boolean over;

  /** Starts to fetch at once. */
  SegmentBatch(
      BlockClient client,
      Peer peer,
      SegmentKeys keys,
      BatchLimits limits,
      List<? extends TaskAttemptID> attempts) {
    this.client = client;
    this.peer = peer;
    this.keys = keys;
    this.limits = limits;
    this.window = limits.windows().open();
    attempts.forEach(attempt -> segments.add(new InFlight(attempt, limits)));
    locked(this::pump);
  }

  private record Ask(InFlight segment, int piece, long reservedBytes) {}

  /**
   * The next map output, in the order asked; ends the one before.
   *
   * @return empty after the last
   * @throws SegmentLostException if nothing more comes from this host
   * @throws InterruptedException if the fetcher is to stop
   */
  public Optional<Arrival> next() throws SegmentLostException, InterruptedException {
    lock.lock();
    try {
      dropCurrent();
      at++;
      pump();
      if (at >= segments.size()) {
        return Optional.empty();
      }
      InFlight segment = segments.get(at);
      await(() -> segment.isReady() || segment.refusal() != null);
      FallbackReason refusal = segment.refusal();
      if (refusal == null) {
        pump(); // its length is known now
        stream = new SegmentStream(this, segment);
        return Optional.of(
            new Segment(segment.attempt(), segment.rawBytes(), segment.partBytes(), stream));
      }
      if (Reasons.concernsHost(refusal)) {
        throw lost(refusal);
      }
      return Optional.of(new Arrival.Refused(segment.attempt(), refusal));
    } finally {
      lock.unlock();
    }
  }

  /** The reader's next piece of a segment; the reader closes it and says {@link #given}. */
  Block take(InFlight segment) throws SegmentLostException {
    lock.lock();
    try {
      pump();
      await(() -> segment.hasNext() || segment.isDropped());
      Block block = segment.refusal() == null ? segment.take() : null;
      if (block != null) {
        return block;
      }
      throw lost(segment.refusal() != null ? segment.refusal() : FallbackReason.STOPPING);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw lost(FallbackReason.STOPPING);
    } finally {
      lock.unlock();
    }
  }

  /** The reader closed a piece. */
  void given(long bytes) {
    locked(
        () -> {
          window.give(bytes);
          pump();
        });
  }

  /** Ends every wait; the reader then sees {@link SegmentLostException} with reason STOPPING. */
  public void cancel() {
    locked(
        () -> {
          over = true;
          changed.signalAll();
        });
  }

  /** By the reader. Idempotent. */
  @Override
  public void close() {
    locked(
        () -> {
          over = true;
          dropCurrent();
          segments.forEach(segment -> window.give(segment.drop()));
          window.close();
          changed.signalAll();
        });
  }

  /** Bytes under way, or here and not yet given back; 0 soon after the end. */
  long usedBytes() {
    lock.lock();
    try {
      return window.usedBytes();
    } finally {
      lock.unlock();
    }
  }

  private void dropCurrent() {
    if (stream != null) {
      stream.close(); // it holds the piece it has begun
      stream = null;
    }
    if (at >= 0 && at < segments.size()) {
      window.give(segments.get(at).drop());
    }
  }

  private SegmentLostException lost(FallbackReason reason) {
    return SegmentLostException.byTransport(reason, peer + ": " + reason.label());
  }

  /** Waits with the lock held, which waiting gives up. */
  private void await(BooleanSupplier done) throws SegmentLostException, InterruptedException {
    long leftNs = limits.pieceTimeout().toNanos();
    while (!over && !done.getAsBoolean()) {
      if (leftNs <= 0) {
        throw new SegmentLostException(
            FallbackReason.TRANSFER_FAILED,
            peer + " delivered nothing for " + limits.pieceTimeout().toMillis() + " ms");
      }
      leftNs = changed.awaitNanos(leftNs);
    }
    if (over) {
      throw lost(FallbackReason.STOPPING);
    }
  }

  // ---- asking

  /** Never throws: what it cannot ask for comes by HTTP, and the fetcher goes on. */
  private void pump() {
    Answers answers = null;
    try {
      answers = new Answers();
      if (!over) {
        plan(answers.asks);
      }
      if (!answers.asks.isEmpty()) {
        client.fetch(peer, answers.asks.stream().map(this::key).toList(), answers);
      }
    } catch (RuntimeException | Error e) { // nothing of it was begun
      if (answers != null) {
        answers.giveBack();
      }
      refuseAll();
    }
  }

  /** Something may be lost: no segment that is not here already may be waited for. */
  private void refuseAll() {
    for (int i = 0; i < segments.size(); i++) {
      segments.get(i).refuse(FallbackReason.TRANSFER_FAILED);
    }
    changed.signalAll();
  }

  private BlockKey key(Ask ask) {
    TaskAttemptID attempt = ask.segment().attempt();
    return ask.piece() == LENGTH ? keys.length(attempt) : keys.piece(attempt, ask.piece());
  }

  private void plan(List<Ask> asks) {
    if (!window.isEmpty() && !readerWaits() && !isWorthARequest()) {
      return;
    }
    boolean allAsked = true;
    for (int i = Math.max(0, at); i < nextHead && allAsked; i++) {
      InFlight segment = segments.get(i);
      planPieces(segment, asks);
      allAsked = rest(segment) == 0;
    }
    if (allAsked) {
      planHeads(asks);
    }
  }

  /** Whether the reader's turn has come to something that was not even asked for. */
  private boolean readerWaits() {
    if (at < 0 || at >= segments.size()) {
      return false;
    }
    InFlight segment = segments.get(at);
    return nextHead <= at || (rest(segment) > 0 && segment.isStarving());
  }

  private boolean isWorthARequest() {
    long enough = window.bytes() / limits.pieceBytes() / REQUESTS_PER_WINDOW;
    long left = segments.size() - nextHead;
    boolean moreSoon = false; // of segments whose beginning is under way
    for (int i = Math.max(0, at); i < nextHead && left < enough; i++) {
      left += rest(segments.get(i));
      moreSoon |= segments.get(i).isBeginning();
    }
    return left < enough ? !moreSoon && room() >= left : room() >= enough;
  }

  /** Pieces there is room for. */
  private long room() {
    return window.freeBytes() / limits.pieceBytes();
  }

  /** Pieces to ask for of a segment that has begun to come. */
  private static long rest(InFlight segment) {
    boolean comes = segment.isReady() && !segment.isDropped() && segment.refusal() == null;
    return comes ? segment.unasked() : 0;
  }

  private void planPieces(InFlight segment, List<Ask> asks) {
    long rest = rest(segment);
    long count = Math.min(room(), rest);
    if (count == 0
        && rest > 0
        && segment == segments.get(Math.max(0, at))
        && segment.isStarving()) {
      count = 1; // though later ones have taken the window
    }
    for (long i = 0; i < count; i++) {
      int piece = segment.ask();
      ask(asks, segment, piece, limits.pieceBytes(segment.partBytes(), piece));
    }
  }

  /** What they leave of the window is for the rest of the segments whose turn is next. */
  private void planHeads(List<Ask> asks) {
    long mostBytes = limits.windows().firstsBytes();
    long firstBytes = limits.windows().firstBytes();
    long room = Math.max(0, mostBytes - window.usedBytes()) / firstBytes;
    long enough = mostBytes / firstBytes / 2;
    boolean alone = asks.isEmpty() && !window.isEmpty() && nextHead > at;
    if (alone && room < Math.min(enough, segments.size() - nextHead)) {
      return;
    }
    while (nextHead < segments.size()
        && (window.isEmpty() || nextHead <= at || window.usedBytes() + firstBytes <= mostBytes)) {
      InFlight segment = segments.get(nextHead++);
      ask(asks, segment, LENGTH, 0);
      ask(asks, segment, segment.ask(), firstBytes);
    }
  }

  private void ask(List<Ask> asks, InFlight segment, int piece, long bytes) {
    asks.add(new Ask(segment, piece, bytes));
    window.take(bytes);
  }

  private void locked(Runnable task) {
    lock.lock();
    try {
      task.run();
    } finally {
      lock.unlock();
    }
  }

  // ---- being answered

  /** Hears of the blocks of one request. An Error costs the segments that are not here yet. */
  private final class Answers implements BlockClient.FetchListener {
    private final List<Ask> asks = new ArrayList<>();

    @Override
    public void onBlock(int index, Block block) {
      lock.lock();
      try {
        came(asks.get(index), block);
        changed.signalAll();
        pump();
      } catch (RuntimeException | Error e) { // the block stays the caller's
        refuseAll();
        throw e;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onFallback(int[] indices, FallbackReason reason) {
      lock.lock();
      try {
        for (int index : indices) {
          refused(asks.get(index), reason);
        }
        changed.signalAll();
        pump();
      } finally {
        lock.unlock();
      }
    }

    void giveBack() {
      for (int i = 0; i < asks.size(); i++) {
        window.give(asks.get(i).reservedBytes());
      }
    }

    private void came(Ask ask, Block block) {
      window.give(ask.reservedBytes());
      if (over || ask.segment().isDropped()) {
        block.close();
      } else if (ask.piece() == LENGTH) {
        ask.segment().lengthCame(block.attribute());
        limits.windows().lengthCame(block.attribute());
        block.close();
      } else {
        ask.segment().pieceCame(ask.piece(), block);
        window.take(block.bytes());
      }
    }

    private void refused(Ask ask, FallbackReason reason) {
      window.give(ask.reservedBytes());
      ask.segment().refuse(reason);
    }
  }
}
