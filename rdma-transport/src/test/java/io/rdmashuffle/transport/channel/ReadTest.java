package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.RegisteredMemory;
import io.rdmashuffle.transport.testing.fake.Hold;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.WcStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReadTest {
  private static final long SECOND = 1_000_000_000;
  private static final int BYTES = 64 << 10;

  private static ChannelSettings readsInFlight(int reads) {
    ChannelSettings d = ChannelSettings.defaults();
    return new ChannelSettings(
        d.requestsInFlight(),
        reads,
        d.maxConnections(),
        d.connectTimeout(),
        d.requestTimeout(),
        d.keepAlive(),
        d.idleTimeout(),
        d.spin());
  }

  /** Source at the owner and sink at the reader. */
  private static final class Pair implements AutoCloseable {
    final RegisteredMemory source;
    final RegisteredMemory sink;

    Pair(Network net) throws TransportException {
      source = net.owner.register(BYTES, Access.REMOTE_READ);
      sink = net.reader.register(BYTES, Access.LOCAL_WRITE);
      byte[] bytes = new byte[BYTES];
      new Random(3).nextBytes(bytes);
      source.view(0, BYTES).put(bytes);
    }

    ReadChain chain(int reads, int bytesEach) {
      ReadChain chain = new ReadChain(reads);
      for (int i = 0; i < reads; i++) {
        long offset = (long) i * bytesEach % BYTES;
        chain
            .add(bytesEach)
            .from(source.address() + offset, source.rkey())
            .into(sink.address() + offset, sink.lkey());
      }
      return chain;
    }

    ByteBuffer sourceView(int bytes) {
      return source.view(0, bytes);
    }

    ByteBuffer sinkView(int bytes) {
      return sink.view(0, bytes);
    }

    @Override
    public void close() {
      source.close();
      sink.close();
    }
  }

  @Test
  void chainsBringTheBytesAndGiveTheirCreditsBack() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      ReadChain chain = memory.chain(64, 1024);
      listener.channel.read(chain, SECOND, listener.readHandler());
      assertThat(listener.channel.readCredits()).isEqualTo(64);
      chain.clear(); // reusable at once
      net.settle();
      assertThat(listener.heard).containsExactly("open", "read");
      assertThat(memory.sinkView(BYTES)).isEqualTo(memory.sourceView(BYTES));
      assertThat(listener.channel.readCredits()).isEqualTo(128);
      assertThat(net.reader.count(Counter.READS_POSTED)).isEqualTo(64);
      assertThat(net.reader.counters.readLatency().count()).isEqualTo(1);
      listener.channel.close(new TransportException(Kind.RETRY, "done"));
      net.settle();
    }
  }

  @Test
  void readsBeyondTheCreditAreTheCallersBug() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      listener.channel.read(memory.chain(100, 16), SECOND, listener.readHandler());
      assertThatThrownBy(
              () -> listener.channel.read(memory.chain(29, 16), SECOND, listener.readHandler()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("29 READs from fake0, credit is 28");
      listener.channel.read(memory.chain(28, 16), SECOND, listener.readHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "read", "read");
    }
  }

  @Test
  void whenTheQueuePairBreaksEachOfAThousandReadsIsToldOnce() throws Exception {
    try (Network net = new Network(readsInFlight(1000));
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      net.fabric.faults().readsFrom(net.reader.device.address()).fail(400, WcStatus.REM_OP_ERR);
      for (int i = 0; i < 1000; i++) {
        listener.channel.read(memory.chain(1, 32), SECOND, listener.readHandler());
      }
      assertThat(listener.channel.readCredits()).isZero();
      net.settle();
      assertThat(Collections.frequency(listener.heard, "read")).isEqualTo(399);
      assertThat(Collections.frequency(listener.heard, "read failed")).isEqualTo(601);
      assertThat(listener.heard).hasSize(1002).endsWith("read failed", "closed");
      assertThat(listener.onlyCause()).hasMessageContaining("READ, fake0, qp 0x");
      assertThat(listener.onlyCause()).hasMessageContaining("REM_OP_ERR");
      assertThat(net.reader.count(Counter.READS_FAILED)).isEqualTo(601);
    }
  }

  @Test
  void aRefusedReadIsNamedByItsPlaceInItsChain() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      listener.channel.read(memory.chain(100, 64), SECOND, listener.readHandler());
      net.settle(); // the numbers of READs begin anew in the chain that fails
      net.fabric.faults().readsFrom(net.reader.device.address()).fail(38, WcStatus.REM_ACCESS_ERR);
      List<Integer> refused = new ArrayList<>();
      ReaderChannel.ReadHandler handler =
          new ReaderChannel.ReadHandler() {
            @Override
            public void onRead() {
              throw new AssertionError("it was refused");
            }

            @Override
            public void onRefused(int read, TransportException cause) {
              refused.add(read);
            }

            @Override
            public void onFailed(TransportException cause) {
              throw new AssertionError("it was refused", cause);
            }
          };
      listener.channel.read(memory.chain(20, 64), SECOND, listener.readHandler());
      listener.channel.read(memory.chain(30, 64), SECOND, handler);
      listener.channel.read(memory.chain(40, 64), SECOND, listener.readHandler());
      net.settle();
      assertThat(refused).containsExactly(17);
      assertThat(listener.heard).containsExactly("open", "read", "read", "read failed", "closed");
      assertThat(listener.onlyCause()).isInstanceOf(ReadRefusedException.class);
    }
  }

  @Test
  void aPeerThatIsGoneRefusesNothing() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      net.fabric.faults().readsFrom(net.reader.device.address()).fail(2, WcStatus.RETRY_EXC_ERR);
      listener.channel.read(memory.chain(3, 64), SECOND, listener.readHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "read failed", "closed");
      assertThat(listener.onlyCause()).isNotInstanceOf(ReadRefusedException.class);
    }
  }

  @Test
  void aReadThatHangsFailsAtItsDeadlineAndNothingIsWrittenAfterwards() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      Hold hold = net.fabric.faults().reads().holdAll();
      listener.channel.read(memory.chain(3, 512), SECOND, listener.readHandler());
      net.reader.stickSlowPool();
      net.pass(Duration.ofMillis(1_100));
      assertThat(listener.heard).as("the adapter may still write").containsExactly("open");
      net.reader.freeSlowPool();
      net.settle();
      assertThat(listener.heard).containsExactly("open", "read failed", "closed");
      assertThat(listener.onlyCause()).hasMessageContaining("3 READs not complete in time");
      hold.release();
      net.settle();
      assertThat(memory.sinkView(512)).isEqualTo(ByteBuffer.allocate(512));
    }
  }

  @Test
  void aBadKeyBreaksOneConnectionAndNotItsNeighbour() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener good = net.connect();
      RecordingListener bad = net.connect(78);
      ReadChain wrong = new ReadChain(1);
      wrong
          .add(100)
          .from(memory.source.address(), memory.source.rkey() ^ 1)
          .into(memory.sink.address(), memory.sink.lkey());
      good.channel.read(memory.chain(1, 100), SECOND, good.readHandler());
      bad.channel.read(wrong, SECOND, bad.readHandler());
      good.channel.read(memory.chain(1, 100), SECOND, good.readHandler());
      net.settle();
      assertThat(bad.heard).containsExactly("open", "read failed", "closed");
      assertThat(good.heard).containsExactly("open", "read", "read");
      good.channel.request(Messages.locate(1), SECOND, good.replyHandler());
      net.settle();
      assertThat(good.heard).endsWith("reply");
    }
  }

  @Test
  void aQueuePairThatBreaksByItselfIsNoticed() throws Exception {
    try (Network net = new Network();
        Pair memory = new Pair(net)) {
      RecordingListener listener = net.connect();
      Hold hold = net.fabric.faults().readsFrom(net.reader.device.address()).holdAll();
      listener.channel.read(memory.chain(5, 100), 9 * SECOND, listener.readHandler());
      net.settle();
      net.owner.acceptor.only().channel.close(new TransportException(Kind.RETRY, "revoked"));
      net.settle();
      assertThat(listener.heard).containsExactly("open", "read failed", "closed");
      hold.release();
      net.settle();
    }
  }
}
