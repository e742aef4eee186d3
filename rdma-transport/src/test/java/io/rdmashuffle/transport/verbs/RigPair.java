package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.RigEnd.Completion;
import io.rdmashuffle.transport.verbs.RigEnd.Port;

/** A standing connection. */
public record RigPair(Port client, Port server) {
  /** Posts one READ of {@code bytes} from the start of {@code source} to that of {@code sink}. */
  void postRead(long wrId, RigMemory source, RigMemory sink, int bytes) throws VerbsException {
    client.queuePair().postReads(chain(1).add(wrId, bytes).from(source).into(sink).reads());
  }

  Completion read(long wrId, RigMemory source, RigMemory sink, int bytes) throws VerbsException {
    postRead(wrId, source, sink, bytes);
    Completion completion = client.end().completion();
    assertThat(completion.wrId()).isEqualTo(wrId);
    assertThat(completion.qpNumber()).isEqualTo(client.queuePair().number());
    return completion;
  }

  static Chain chain(int capacity) {
    return new Chain(new ReadChain(capacity));
  }

  /** Adds READs between pieces of {@link RigMemory}. */
  record Chain(ReadChain reads) {
    Chain add(long wrId, int bytes) {
      reads.add(bytes);
      reads.stamp(reads.size() - 1, wrId);
      return this;
    }

    Chain from(RigMemory source) {
      return from(source, 0);
    }

    Chain from(RigMemory source, long offset) {
      reads.from(source.region().address() + offset, source.region().rkey());
      return this;
    }

    Chain into(RigMemory sink) {
      return into(sink, 0);
    }

    Chain into(RigMemory sink, long offset) {
      reads.into(sink.region().address() + offset, sink.region().lkey());
      return this;
    }
  }
}
