package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block.Source;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * NodeManagers in memory, as a transport's client shows them. It can be told to refuse or to keep
 * silent, and counts what it delivered and what was not given back.
 */
public final class SegmentServer implements BlockClient {
  /** Group of the keys that ask for a length. */
  public static final int LENGTH = Integer.MAX_VALUE;

  private final int pieceBytes;
  private final Map<Long, TestSegment> segments = new ConcurrentHashMap<>();
  private final ExecutorService delivery =
      Executors.newSingleThreadExecutor(task -> daemon(task, "test-delivery"));
  private final List<List<BlockKey>> requests = new CopyOnWriteArrayList<>();
  private final AtomicInteger blocksOut = new AtomicInteger();
  private final AtomicLong bytesOut = new AtomicLong();
  private final AtomicLong mostBytesOut = new AtomicLong();
  private volatile Script script = (peer, key) -> Answer.DELIVER;
  private volatile Source source = Source.READ;

  /** What a request for a block gets. */
  public sealed interface Answer {
    /** The block. */
    Answer DELIVER = new Deliver();

    /** Nothing, ever. */
    Answer SILENCE = new Silence();

    /** The block. */
    record Deliver() implements Answer {}

    /** Nothing. */
    record Silence() implements Answer {}

    /** The block without its last byte. */
    record Cut() implements Answer {}

    /** A fallback. */
    record Refuse(FallbackReason reason) implements Answer {}
  }

  /** Decides what each request gets. */
  public interface Script {
    Answer answer(Peer peer, BlockKey key);
  }

  public SegmentServer(int pieceBytes) {
    this.pieceBytes = pieceBytes;
  }

  /** Names of one reducer's segments. */
  static SegmentKeys keys(int reduce) {
    return new JobKeys(reduce);
  }

  private static long number(TaskAttemptID attempt) {
    return MapOutputKeys.pieceKeyOf(attempt, 0, 0).output();
  }

  /** The map that a key names. */
  public static int mapOf(BlockKey key) {
    return MapOutputKeys.attemptOf(new JobID("test", 1), key).getTaskID().getId();
  }

  public void add(TaskAttemptID attempt, TestSegment segment) {
    segments.put(number(attempt), segment);
  }

  public void script(Script newScript) {
    script = newScript;
  }

  /** How all blocks come from now on. */
  public void deliverBy(Source newSource) {
    source = newSource;
  }

  /** Keys of each request so far. */
  public List<List<BlockKey>> requests() {
    return requests;
  }

  /** Blocks delivered and not closed. */
  public int blocksOut() {
    return blocksOut.get();
  }

  /** Most bytes that were out at a time. */
  long mostBytesOut() {
    return mostBytesOut.get();
  }

  @Override
  public void fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
    requests.add(List.copyOf(keys));
    delivery.execute(() -> answer(peer, keys, listener));
  }

  private void answer(Peer peer, List<BlockKey> keys, FetchListener listener) {
    for (int i = 0; i < keys.size(); i++) {
      BlockKey key = keys.get(i);
      Answer answer = script.answer(peer, key);
      if (answer instanceof Answer.Refuse refuse) {
        listener.onFallback(new int[] {i}, refuse.reason());
      } else if (!(answer instanceof Answer.Silence)) {
        deliver(key, i, listener, answer instanceof Answer.Cut ? 1 : 0);
      }
    }
  }

  private void deliver(BlockKey key, int index, FetchListener listener, int cutBytes) {
    TestSegment segment = segments.get(key.output());
    if (segment == null) {
      listener.onFallback(new int[] {index}, FallbackReason.UNKNOWN_BLOCK);
      return;
    }
    if (key.group() == LENGTH) {
      listener.onBlock(index, block(new byte[0], 0, segment.partBytes()));
      return;
    }
    long offset = (long) key.group() * pieceBytes;
    int length = (int) Math.min(pieceBytes, segment.partBytes() - offset) - cutBytes;
    listener.onBlock(
        index, block(segment.content().apply(offset), Math.max(0, length), segment.rawBytes()));
  }

  private TestBlock block(byte[] content, int length, long attribute) {
    blocksOut.incrementAndGet();
    long out = bytesOut.addAndGet(length);
    mostBytesOut.accumulateAndGet(out, Math::max);
    return new TestBlock(
        content,
        length,
        attribute,
        source,
        () -> {
          blocksOut.decrementAndGet();
          bytesOut.addAndGet(-length);
        });
  }

  /** Waits until what was asked for so far is answered. */
  public void settle() throws Exception {
    delivery.submit(() -> {}).get(10, TimeUnit.SECONDS);
  }

  @Override
  public void forget(String peerId) {}

  @Override
  public void close() {
    delivery.shutdownNow();
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
