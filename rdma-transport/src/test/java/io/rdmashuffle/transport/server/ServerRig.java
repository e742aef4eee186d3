package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.testing.ManualLoop;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * A block server over the in-memory fake, with a loop, a slow pool and readers that the test
 * drives. Pages are 4 KiB. Closing it checks that the server leaves nothing behind.
 */
final class ServerRig implements AutoCloseable {
  static final int PAGE = 4096;
  static final long SCOPE = 77;
  static final long UNLIMITED = 1L << 40;
  static final long[] NO_RELEASES = {};

  final FakeFabric fabric = FakeFabric.immediate();
  final ManualLoop loop = new ManualLoop();
  final ManualPool pool = new ManualPool();
  final Counters counters = new Counters();
  final Device device;
  final ProtectionDomain domain;
  final MemoryBudget budget;
  final RdmaBlockServer server;
  private final VerbsProvider provider;
  private final InetAddress readerAddress = fabric.addAdapter();
  private final TestFiles files;
  private TestReader reader;

  ServerRig(Path directory, ServerSettings settings, long budgetBytes) throws IOException {
    this(directory, settings, budgetBytes, UNLIMITED);
  }

  ServerRig(Path directory, ServerSettings settings, long budgetBytes, long memlockBytes)
      throws IOException {
    this(directory, settings, budgetBytes, memlockBytes, Map.of());
  }

  ServerRig(
      Path directory,
      ServerSettings settings,
      long budgetBytes,
      long memlockBytes,
      Map<MemoryBudget.Use, Integer> guaranteedPercent)
      throws IOException {
    files = new TestFiles(directory);
    provider = fabric.newProcess(memlockBytes, PAGE);
    device = provider.open(fabric.addAdapter());
    domain = device.allocateProtectionDomain();
    budget =
        MemoryBudget.of(
            List.of(new MemoryBudget.Bound(budgetBytes, "test", "none")), guaranteedPercent);
    server =
        new RdmaBlockServer(
            new RdmaBlockServer.Threads(loop, pool, 2, new Random(1)),
            new RdmaBlockServer.Memory(
                provider.hostMemory(),
                budget,
                new FileWindows(provider.hostMemory(), budget),
                staging(settings)),
            files.catalog(),
            settings,
            counters);
  }

  /** All that the settings ask for, in chunks of 128 KiB. */
  private static ChunkPoolSettings staging(ServerSettings settings) {
    return ChunkPoolSettings.ofBytes(
        settings.stagingBytes(), (int) Math.min(128 << 10, settings.stagingBytes()), 0);
  }

  /** Small numbers, so that small files meet every limit. */
  static ServerSettings settings() {
    return new ServerSettings(
        512, 16 * PAGE, 2 * PAGE, 4L << 20, Duration.ofSeconds(3), Duration.ofSeconds(5));
  }

  // ---- files and keys

  /** A new file with random content. */
  OutputFile file(int bytes) throws IOException {
    return files.file(bytes);
  }

  /** Names a range of a file, known to the catalog from now on. */
  BlockKey block(OutputFile file, long offset, long bytes) {
    return files.block(file, offset, bytes);
  }

  BlockKey newKey() {
    return files.newKey();
  }

  MapCatalog catalog() {
    return files.catalog();
  }

  static byte[] bytes(OutputFile file, long offset, long bytes) throws IOException {
    return TestFiles.bytes(file, offset, bytes);
  }

  // ---- tenants

  /** One more protection domain, which the test closes. */
  ProtectionDomain newDomain() throws VerbsException {
    return device.allocateProtectionDomain();
  }

  /** A reader of that domain. */
  ScriptedOwnerChannel connect(ProtectionDomain tenant) {
    return new ScriptedOwnerChannel(SCOPE, tenant).open(server.acceptor());
  }

  // ---- requests

  ScriptedOwnerChannel connect() {
    return new ScriptedOwnerChannel(SCOPE, domain).open(server.acceptor());
  }

  Reply.Located locate(ScriptedOwnerChannel channel, BlockKey... keys) {
    int id = channel.deliver(new Request.Locate(List.of(keys), NO_RELEASES));
    run();
    Reply reply = channel.replyTo(id);
    assertThat(reply).as("reply to the LOCATE").isNotNull();
    return (Reply.Located) reply;
  }

  Reply.Answer locateOne(ScriptedOwnerChannel channel, BlockKey key) {
    return locate(channel, key).answers().get(0);
  }

  void release(ScriptedOwnerChannel channel, long... leases) {
    int id = channel.deliver(new Request.Release(leases));
    assertThat(channel.replyTo(id)).isInstanceOf(Reply.Released.class);
    run();
  }

  /** As a reader does that is done with a reply at once. Returns what it read. */
  byte[] fetch(ScriptedOwnerChannel channel, BlockKey key) throws VerbsException {
    Reply.Located located = locate(channel, key);
    byte[] bytes = read(located.answers().get(0));
    release(channel, located.lease());
    return bytes;
  }

  /** The bytes behind an answer, by READ where it says so. */
  byte[] read(Reply.Answer answer) throws VerbsException {
    if (answer instanceof Reply.Inline inline) {
      return inline.bytes();
    }
    assertThat(answer).isInstanceOf(Reply.Granted.class);
    return reader().read((Reply.Granted) answer);
  }

  TestReader reader() throws VerbsException {
    if (reader == null) {
      reader = new TestReader(provider, readerAddress, device, domain);
    }
    return reader;
  }

  void closeReader() {
    if (reader != null) {
      reader.close();
      reader = null;
    }
  }

  // ---- time

  /** Does everything that is to be done now. */
  void run() {
    do {
      loop.runAll();
    } while (pool.runOne());
  }

  void advance(Duration time) {
    loop.advance(time);
    run();
  }

  void breakOff(ScriptedOwnerChannel channel) {
    channel.fail(new TransportException(TransportException.Kind.PEER_LOST, "broken by the test"));
    channel.finishClose();
    run();
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  long registeredBytes() {
    return budget.usedBytes();
  }

  /** Stops the server and checks that it leaves nothing; all channels must have been closed. */
  @Override
  public void close() {
    closeReader();
    CompletableFuture<Void> stopped = server.stop();
    run();
    assertThat(stopped).as("server stopped").isCompleted();
    assertThat(count(Counter.LEASES_LIVE)).isZero();
    assertThat(budget.usedBytes()).isZero();
    domain.close();
    device.close();
    fabric.assertNothingOpen();
  }
}
