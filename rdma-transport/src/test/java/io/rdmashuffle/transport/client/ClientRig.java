package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.testing.ManualLoop;
import io.rdmashuffle.transport.channel.testing.ScriptedDialer;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRead;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRequest;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.wire.BlockKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A client whose loop, threads, discovery and channels the test drives, over a real pool on the
 * fake adapter. One thread, so that everything is always the same.
 */
final class ClientRig implements AutoCloseable {
  static final Peer PEER = new Peer("1", "host-1", 7337);

  final ManualLoop loop = new ManualLoop();
  final ScriptedDialer dialer = new ScriptedDialer(loop);
  final ScriptedDiscovery discovery = new ScriptedDiscovery();
  final RigThreads threads = new RigThreads();
  final Counters counters = new Counters();
  final ClientSettings settings;
  final RigMemory memory;
  final ChunkPool pool;
  final ChunkPool overflow;
  final RdmaBlockClient client;

  private int keys;

  /** What tests change of the settings. */
  record Setup(
      int chunks,
      int reserve,
      int readBytes,
      int windowBytes,
      long budgetBytes,
      int overflowChunks) {
    static final int CHUNK_BYTES = 64 << 10;

    /** 16 chunks of 64 KiB, a quarter of them for transit; 1024 of overflow memory. */
    static Setup standard() {
      return new Setup(16, 4, 64 << 10, 1 << 20, Long.MAX_VALUE, 1024);
    }

    Setup withChunks(int total, int reserved) {
      return new Setup(total, reserved, readBytes, windowBytes, budgetBytes, overflowChunks);
    }

    Setup withWindow(int bytes) {
      return new Setup(chunks, reserve, readBytes, bytes, budgetBytes, overflowChunks);
    }

    Setup withReadBytes(int bytes) {
      return new Setup(chunks, reserve, bytes, windowBytes, budgetBytes, overflowChunks);
    }

    Setup withBudget(long bytes) {
      return new Setup(chunks, reserve, readBytes, windowBytes, bytes, overflowChunks);
    }

    Setup withOverflow(int chunksOfIt) {
      return new Setup(chunks, reserve, readBytes, windowBytes, budgetBytes, chunksOfIt);
    }

    ClientSettings clientSettings() {
      return new ClientSettings(
          (long) chunks * CHUNK_BYTES,
          CHUNK_BYTES,
          100 * reserve / chunks,
          readBytes,
          windowBytes,
          Duration.ofSeconds(30),
          Duration.ofSeconds(5),
          Duration.ofMillis(500),
          Duration.ofSeconds(1),
          Duration.ofMinutes(1));
    }

    ChunkPoolSettings poolSettings() {
      return new ChunkPoolSettings(CHUNK_BYTES, Math.min(64, chunks), chunks, reserve);
    }

    ChunkPoolSettings overflowSettings() {
      return new ChunkPoolSettings(CHUNK_BYTES, Math.min(16, overflowChunks), overflowChunks, 0);
    }
  }

  ClientRig() {
    this(Setup.standard(), ChannelSettings.defaults());
  }

  ClientRig(Setup setup) {
    this(setup, ChannelSettings.defaults());
  }

  ClientRig(Setup setup, ChannelSettings channelSettings) {
    settings = setup.clientSettings();
    memory = new RigMemory(setup, threads.slow(), loop.clock());
    pool = memory.pool;
    overflow = memory.overflow;
    client =
        new RdmaBlockClient(
            new ClientParts(
                loop,
                dialer,
                discovery,
                pool,
                overflow,
                threads.forClient(),
                counters,
                new Random(1),
                settings,
                channelSettings));
    pool.warmUp();
    settle();
  }

  /** Runs everything that can run without time passing. */
  void settle() {
    int ran;
    do {
      ran = loop.runAll() + threads.runAll();
    } while (ran > 0);
  }

  void advance(Duration time) {
    settle();
    loop.advance(time);
    settle();
  }

  /** New keys, never the same. */
  List<BlockKey> keys(int count) {
    List<BlockKey> result = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      result.add(new BlockKey(3, keys++, 5, 6));
    }
    return result;
  }

  Results fetch(int count) {
    return fetch(PEER, keys(count));
  }

  Results fetch(Peer peer, List<BlockKey> wanted) {
    Results results = new Results(wanted);
    client.fetch(peer, wanted, results);
    settle();
    return results;
  }

  /** The pending attempt connects. */
  ScriptedReaderChannel connect() {
    awaitDial();
    ScriptedReaderChannel channel = dialer.pending().get(0).connect();
    settle();
    return channel;
  }

  /** Lets the jitter before a dial pass. */
  void awaitDial() {
    for (int i = 0; i < 10 && dialer.pending().isEmpty(); i++) {
      advance(Duration.ofMillis(1));
    }
    assertThat(dialer.pending()).isNotEmpty();
  }

  /** Connects to {@link #PEER} with a first fetch that is answered at once. */
  ScriptedReaderChannel connected(Owner owner) {
    Results first = fetch(1);
    ScriptedReaderChannel channel = connect();
    serve(channel, owner);
    first.checkAndClose(owner);
    advance(Duration.ofMillis(6)); // the lease goes back
    serve(channel, owner);
    return channel;
  }

  /** Answers and completes everything until nothing is asked any more. */
  void serve(ScriptedReaderChannel channel, Owner owner) {
    settle();
    while (!channel.requests().isEmpty() || !channel.reads().isEmpty()) {
      for (PendingRequest request : channel.requests()) {
        owner.answer(request);
      }
      for (PendingRead read : channel.reads()) {
        complete(read);
      }
      settle();
    }
  }

  /** Answers what is asked now. */
  void answerRequests(ScriptedReaderChannel channel, Owner owner) {
    for (PendingRequest request : channel.requests()) {
      owner.answer(request);
    }
    settle();
  }

  /** The adapter does what the chain asks for. */
  void complete(PendingRead read) {
    read.posted().forEach(memory::land);
    read.complete();
  }

  /** The peer's process dies. */
  void fail(ScriptedReaderChannel channel) {
    channel.fail(new TransportException(Kind.PEER_LOST, "test: RETRY_EXC_ERR"));
    channel.finishClose();
    settle();
  }

  /** The adapter reports something. */
  void portEvent(AsyncEvent.Type type) {
    loop.execute(() -> client.onDeviceEvent(new AsyncEvent(type, type.ordinal())));
  }

  /** Memory that somebody holds; the cursors' own chunks are let go after a second. */
  int chunksHeld() {
    advance(Duration.ofSeconds(1));
    return pool.chunksOut();
  }

  /** Ends the client and checks that nothing is left. Open channels end as the real ones do. */
  @Override
  public void close() {
    client.close();
    settle();
    assertThat(pool.chunksOut()).as("chunks not returned").isZero();
    assertThat(overflow.chunksOut()).as("chunks of overflow memory not returned").isZero();
    memory.close();
  }
}
