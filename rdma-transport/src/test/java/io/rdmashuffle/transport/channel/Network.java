package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.testing.ManualClock;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * An owner and readers on a stepped fabric under a manual clock: one thread, always the same.
 * Closing it shuts all down and checks that nothing is left.
 */
final class Network implements AutoCloseable {
  static final byte[] SECRET = "a secret of some length".getBytes(StandardCharsets.US_ASCII);
  static final long TICKET = 77;
  private static final long LONGEST_STEP_NS = 250_000_000;
  private static final int ENDLESS_ROUNDS = 1_000_000;

  final ManualClock clock = new ManualClock();
  final FakeFabric fabric = FakeFabric.stepped(clock);
  final List<Node> nodes = new ArrayList<>();
  final ChannelSettings settings;
  final Node owner;
  final Node reader;
  private boolean creditsAreKept = true;

  Network() throws TransportException {
    this(ChannelSettings.defaults());
  }

  Network(ChannelSettings settings) throws TransportException {
    this.settings = settings;
    owner = addNode(settings);
    reader = addNode(settings);
    owner.listen();
    owner.credentials.addTicket(TICKET, SECRET);
  }

  Node addNode(ChannelSettings nodeSettings) throws TransportException {
    Node node = new Node(fabric.provider(), fabric.addAdapter(), clock, nodeSettings);
    nodes.add(node);
    return node;
  }

  /** Runs everything until nobody has anything to do. Time stands still. */
  void settle() {
    boolean worked = true;
    for (int rounds = 0; worked; rounds++) {
      if (rounds == ENDLESS_ROUNDS) {
        throw new AssertionError("the network does not come to rest");
      }
      worked = fabric.runUntilIdle() > 0;
      for (Node node : nodes) {
        worked |= node.step();
      }
    }
  }

  /** Moves time on in steps, settling after each. */
  void pass(Duration time) {
    long stepNs = Math.min(LONGEST_STEP_NS, Math.max(1, time.toNanos() / 20));
    for (long leftNs = time.toNanos(); leftNs > 0; leftNs -= stepNs) {
      clock.advanceNs(Math.min(stepNs, leftNs));
      settle();
    }
  }

  /** Somebody sends more than it may: SENDs may find no receive. */
  void expectSendsWithoutCredit() {
    creditsAreKept = false;
  }

  RecordingListener dial(Node from, Dialer.Target target) {
    RecordingListener listener = new RecordingListener();
    from.core.dialer().dial(target, listener);
    settle();
    return listener;
  }

  /** The reader connects with its ticket. */
  RecordingListener connect() {
    RecordingListener listener = dial(reader, owner.target(TICKET, SECRET));
    if (listener.channel == null) {
      throw new AssertionError("not open: " + listener.causes);
    }
    return listener;
  }

  /** Another connection of the reader's, with a ticket of its own. */
  RecordingListener connect(long ticket) {
    owner.credentials.addTicket(ticket, SECRET);
    return dial(reader, owner.target(ticket, SECRET));
  }

  @Override
  public void close() {
    List<CompletableFuture<Void>> done = new ArrayList<>();
    for (Node node : nodes) {
      node.freeSlowPool();
      done.add(node.core.shutDown());
    }
    settle();
    for (CompletableFuture<Void> future : done) {
      if (!future.isDone()) {
        throw new AssertionError("a node does not shut down");
      }
    }
    for (Node node : nodes) {
      if (node.core.liveConnections() != 0) {
        throw new AssertionError(node.core.liveConnections() + " connections are remembered");
      }
    }
    nodes.forEach(Node::close);
    for (Node node : nodes) {
      if (node.budget.usedBytes() != 0) {
        throw new AssertionError(node.budget.usedBytes() + " bytes still reserved");
      }
    }
    if (creditsAreKept && fabric.receiverNotReadyCount() != 0) {
      throw new AssertionError(fabric.receiverNotReadyCount() + " SENDs found no receive");
    }
    fabric.assertNothingOpen();
  }
}
