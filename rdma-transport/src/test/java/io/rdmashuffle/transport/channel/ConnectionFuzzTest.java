package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.testing.FuzzBudget;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Peers that send anything at any time, to both sides of a connection. Whatever they do, the
 * connection stands or is closed, its neighbour is served, nothing is thrown out of the loop, and
 * nothing is left ({@link Network#close} checks it).
 */
@Timeout(unit = TimeUnit.MINUTES, value = 90)
final class ConnectionFuzzTest {
  private static final long JOB = 5;
  private static final int STEPS = 30;

  private Random random;
  private Network net;

  @Test
  void anOwnerSurvivesWhateverAReaderSends() {
    assertThat(fuzz("owner's connections", this::againstTheOwner))
        .as("how often a reader got as far as a session")
        .isPositive();
  }

  @Test
  void aReaderSurvivesWhateverAnOwnerSends() {
    assertThat(fuzz("reader's connections", this::againstTheReader))
        .as("how often a connection opened")
        .isPositive();
  }

  /** One connection of a random peer; returns how many got through. */
  private interface Round {
    int run() throws Exception;
  }

  /**
   * Rounds on networks of their own until the time is over; returns the sum of what they return.
   */
  private long fuzz(String what, Round round) {
    FuzzBudget budget = FuzzBudget.of(what, 20);
    long sum = 0;
    while (budget.goesOn()) {
      long seed = budget.nextSeed();
      random = new Random(seed);
      try (Network network = new Network()) {
        net = network;
        net.expectSendsWithoutCredit();
        sum += round.run();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
    return sum;
  }

  private int againstTheOwner() throws TransportException {
    net.owner.credentials.addJob(JOB, Network.SECRET);
    boolean silent = random.nextInt(4) == 0;
    RecordingListener neighbour = net.connect();
    net.owner.acceptor.answer =
        request -> silent && random.nextBoolean() ? null : RecordingAcceptor.plainAnswer(request);
    try (RawPeer peer = new RawPeer(net)) {
      byte[] nonce = Messages.nonce(random.nextLong());
      byte[] knock = ConnectRequest.create(new Hmac(), JOB, Network.SECRET, nonce).encode();
      peer.connect(net.owner, random.nextInt(10) == 0 ? changed(knock) : knock);
      if (peer.lastEvent().type() == CmEvent.Type.ESTABLISHED) {
        converse(peer, new MutualChallenge(new Hmac(), JOB, Network.SECRET, nonce));
      }
    }
    net.settle();
    net.owner.acceptor.answer = RecordingAcceptor::plainAnswer;
    neighbour.channel.request(Messages.locate(1), 1_000_000_000, neighbour.replyHandler());
    net.settle();
    assertThat(neighbour.heard).as("the neighbour").containsExactly("open", "reply");
    return net.owner.acceptor.sessions.size() - 1;
  }

  private void converse(RawPeer peer, MutualChallenge challenge) throws TransportException {
    for (int i = 0; i < STEPS && peer.lastEvent().type() == CmEvent.Type.ESTABLISHED; i++) {
      switch (random.nextInt(12)) {
        case 0, 1 -> peer.send(random.nextInt(50), challenge.hello());
        case 2, 3, 4 -> prove(peer, challenge);
        case 5, 6 -> peer.send(random.nextInt(50), Messages.locate(1 + random.nextInt(200)));
        case 7 ->
            peer.send(random.nextInt(50), random.nextBoolean() ? KeepAlive.MESSAGE : release());
        case 8 -> peer.send(changed(Messages.frame(7, Messages.locate(1 + random.nextInt(40)))));
        case 9 -> peer.send(noise(1 + random.nextInt(600)));
        case 10 -> peer.send(1, new Reply.Welcome(1 + random.nextInt(5_000)));
        default -> net.pass(Duration.ofMillis(random.nextInt(1_500)));
      }
      peer.look();
    }
  }

  private Request.Release release() {
    return new Request.Release(new long[] {1 + random.nextInt(9)});
  }

  private static void prove(RawPeer peer, MutualChallenge challenge) throws TransportException {
    if (peer.received.isEmpty()) {
      peer.send(1, challenge.hello());
    }
    if (!peer.received.isEmpty() && peer.lastReply() instanceof Reply.Challenge asked) {
      assertThat(challenge.isAuthentic(asked)).isTrue();
      peer.send(2, challenge.prove());
    }
  }

  private int againstTheReader() throws TransportException {
    RecordingListener neighbour = net.connect();
    RecordingListener listener;
    try (RawPeer peer = new RawPeer(net)) {
      Dialer.Target target = new Dialer.Target("raw", peer.listen(), JOB, Network.SECRET);
      listener = net.dial(net.reader, target);
      peer.accept();
      for (int i = 0; i < STEPS && listener.causes.isEmpty(); i++) {
        answerSomething(peer, listener);
        peer.look();
      }
    }
    net.pass(Duration.ofSeconds(30)); // what nobody answers has a deadline
    assertThat(listener.causes).as("how it ended").hasSize(1);
    boolean wasOpen = listener.heard.contains("open");
    assertThat(listener.heard).last().isEqualTo(wasOpen ? "closed" : "dial failed");
    neighbour.channel.request(Messages.locate(1), 1_000_000_000, neighbour.replyHandler());
    net.settle();
    assertThat(neighbour.heard).as("the neighbour").containsExactly("open", "reply");
    return wasOpen ? 1 : 0;
  }

  private void answerSomething(RawPeer peer, RecordingListener listener) throws TransportException {
    int id = peer.received.isEmpty() ? 1 : idOfLastRequest(peer);
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> answerRightly(peer, id);
      case 4 -> peer.send(random.nextInt(5), new Reply.Released());
      case 5 -> peer.send(id, new Reply.Refused("fuzzed"));
      case 6 -> peer.send(noise(1 + random.nextInt(300)));
      case 7 -> peer.send(changed(Messages.frame(id, Messages.locate(1))));
      case 8 -> peer.send(id, new Reply.Welcome(1 + random.nextInt(5_000)));
      case 9 -> net.pass(Duration.ofMillis(random.nextInt(1_500)));
      default -> {
        if (listener.channel != null && listener.channel.requestCredits() > 0) {
          listener.channel.request(
              Messages.locate(1 + random.nextInt(5)), 1_000_000_000, listener.replyHandler());
        }
      }
    }
  }

  private static int idOfLastRequest(RawPeer peer) throws TransportException {
    peer.lastRequest();
    return peer.codec.requestId();
  }

  private void answerRightly(RawPeer peer, int id) throws TransportException {
    if (peer.received.isEmpty()) {
      return;
    }
    Request asked = peer.lastRequest();
    if (asked instanceof Request.Hello hello) {
      byte[] nonce = Messages.nonce(random.nextLong());
      peer.send(id, new MutualChallenge(new Hmac(), JOB, Network.SECRET, nonce).challenge(hello));
    } else if (asked instanceof Request.Prove) {
      peer.send(id, new Reply.Welcome(1_000));
    } else {
      peer.send(id, RecordingAcceptor.plainAnswer(asked));
    }
  }

  private byte[] changed(byte[] bytes) {
    byte[] changed = bytes.clone();
    changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
    return changed;
  }

  private byte[] noise(int length) {
    byte[] noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }
}
