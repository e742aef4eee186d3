package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.RigEnd.Completion;
import io.rdmashuffle.transport.verbs.RigPair.Chain;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RDMA READs that succeed. */
public interface ReadContract extends RigTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 13, 4095, 4096, 4097, 65_536, 1_048_579})
  default void readBringsTheBytesAndNothingElse(int bytes) throws Exception {
    int margin = 64;
    RigPair pair = rig().connect();
    RigMemory source = rig().source(bytes + 2 * margin);
    RigMemory sink = rig().sink(bytes + 2 * margin);
    Chain read = RigPair.chain(1).add(9, bytes).from(source, margin).into(sink, margin);

    pair.client().queuePair().postReads(read.reads());

    assertThat(rig().client().completion())
        .isEqualTo(new Completion(9, WcStatus.SUCCESS, 0, pair.client().queuePair().number()));
    assertThat(sink.bytes(margin, bytes)).isEqualTo(source.bytes(margin, bytes));
    assertThat(sink.bytes(0, margin)).containsOnly(0);
    assertThat(sink.bytes(margin + bytes, margin)).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8, 13, 31, 33, 48})
  default void chainCompletesOnceWithItsLast(int length) throws Exception {
    int each = 1000;
    RigPair pair = rig().connect();
    RigMemory source = rig().source(length * each);
    RigMemory sink = rig().sink(length * each);
    Chain chain = RigPair.chain(64);

    for (int i = 0; i < length; i++) { // in reverse, so that each READ's own addresses matter
      long offset = (long) (length - 1 - i) * each;
      chain.add(100 + i, each).from(source, offset).into(sink, offset);
    }
    pair.client().queuePair().postReads(chain.reads());

    Completion only = rig().client().completion();
    assertThat(only.status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(only.wrId()).isEqualTo(99 + length);
    assertThat(sink.bytes()).isEqualTo(source.bytes());
    assertThat(rig().client().strayCompletions()).isEmpty();
  }

  @Test
  default void chainMayBeReusedOncePosted() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    Chain chain = RigPair.chain(2);
    for (long i = 0; i < 4; i++) {
      chain.reads().clear();
      chain.add(2 * i, 512).from(source, i * 1024).into(sink, i * 1024);
      chain.add(2 * i + 1, 512).from(source, i * 1024 + 512).into(sink, i * 1024 + 512);
      pair.client().queuePair().postReads(chain.reads());
    }
    chain.reads().clear();

    assertThat(rig().client().completions(4))
        .extracting(Completion::wrId)
        .containsExactly(1L, 3L, 5L, 7L);
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  @Test
  default void randomReadsBringTheRightBytes() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int size = 1 << 20;
    RigPair pair = rig().connect();
    RigMemory source = rig().source(size);
    RigMemory sink = rig().sink(size);
    byte[] whole = source.bytes();
    for (int i = 0; i < 200; i++) {
      int bytes = 1 + random.nextInt(50_000);
      int from = random.nextInt(size - bytes);
      int into = random.nextInt(size - bytes);
      Chain read = RigPair.chain(1).add(i, bytes).from(source, from).into(sink, into);
      pair.client().queuePair().postReads(read.reads());

      assertThat(rig().client().completion().status()).isEqualTo(WcStatus.SUCCESS);
      assertThat(sink.bytes(into, bytes))
          .as("seed %s, READ %s", seed, i)
          .isEqualTo(Arrays.copyOfRange(whole, from, from + bytes));
    }
  }

  @Test
  default void readSeesWhatTheOwnerWroteLast() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    for (byte round = 1; round <= 20; round++) {
      source.fill(round);
      assertThat(pair.read(round, source, sink, 4096).status()).isEqualTo(WcStatus.SUCCESS);
      assertThat(sink.bytes()).containsOnly(round);
    }
  }

  @Test
  default void completionsNameTheirQueuePair() throws Exception {
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(3 * 4096);
    List<RigPair> pairs = List.of(rig().connect(), rig().connect(), rig().connect());
    for (int i = 0; i < 3; i++) {
      Chain read = RigPair.chain(1).add(i, 4096).from(source).into(sink, i * 4096L);
      pairs.get(i).client().queuePair().postReads(read.reads());
    }

    for (Completion completion : rig().client().completions(3)) {
      QueuePair expected = pairs.get((int) completion.wrId()).client().queuePair();
      assertThat(completion.qpNumber()).isEqualTo(expected.number());
      assertThat(completion.status()).isEqualTo(WcStatus.SUCCESS);
    }
  }
}
