package io.rdmashuffle.benchmarks.fetch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * An owner and a reader process of one transport, driven from here by lines of text only: they may
 * be those of another commit. One thread at a time.
 */
final class Pair implements AutoCloseable {
  private final String transport;
  private final Child owner;
  private final Child reader;

  private Pair(String transport, Child owner, Child reader) {
    this.transport = transport;
    this.owner = owner;
    this.reader = reader;
  }

  static Pair start(Harness harness, String transport, Layout layout, Path logs)
      throws IOException {
    String name = harness.label() + "-" + transport;
    Child owner = null;
    Child reader = null;
    try {
      owner =
          Child.start(harness.owner(), logs.resolve(name + "-owner.log"))
              .with(transport)
              .with(layout.arguments())
              .run();
      String endpoint = owner.answer("ENDPOINT");
      reader =
          Child.start(harness.reader(), logs.resolve(name + "-reader.log"))
              .with(transport, endpoint)
              .with(layout.arguments())
              .run();
      reader.answer("READY");
      reader.ask("latency 1", "LATENCY"); // connects while the ticket is fresh
      return new Pair(transport, owner, reader);
    } catch (IOException e) {
      closeAll(reader, owner);
      throw e;
    }
  }

  String transport() {
    return transport;
  }

  /** What one more reader needs to connect. */
  String invitation() throws IOException {
    return owner.ask("invite", "ENDPOINT");
  }

  long digest(int perRequest) throws IOException {
    return Long.parseLong(reader.ask("digest " + perRequest, "DIGEST"));
  }

  /** Streams blocks and tells what that cost in wall time and in CPU of both processes. */
  Sample stream(int perRequest, int parallel, int blocks) throws IOException {
    long ownerBefore = owner.cpuNs();
    long readerBefore = reader.cpuNs();
    String command = "stream " + perRequest + " " + parallel + " " + blocks;
    String[] words = reader.ask(command, "NANOS").split(" ");
    return new Sample(
        Long.parseLong(words[0]),
        owner.cpuNs() - ownerBefore,
        reader.cpuNs() - readerBefore,
        Long.parseLong(words[1]));
  }

  /** Fetches single blocks; the wall time is the median of one. */
  Sample latency(int count) throws IOException {
    long ownerBefore = owner.cpuNs();
    long readerBefore = reader.cpuNs();
    String[] words = reader.ask("latency " + count, "LATENCY").split(" ");
    return new Sample(
        Long.parseLong(words[0]), owner.cpuNs() - ownerBefore, reader.cpuNs() - readerBefore, 0);
  }

  /** CPU of both processes while nothing is asked of them. */
  Sample idle(long millis) throws IOException, InterruptedException {
    long ownerBefore = owner.cpuNs();
    long readerBefore = reader.cpuNs();
    TimeUnit.MILLISECONDS.sleep(millis); // allow(sleep): being idle is what is measured
    return new Sample(
        TimeUnit.MILLISECONDS.toNanos(millis),
        owner.cpuNs() - ownerBefore,
        reader.cpuNs() - readerBefore,
        0);
  }

  @Override
  public void close() {
    closeAll(reader, owner);
  }

  private static void closeAll(Child... children) {
    for (Child child : children) {
      if (child != null) {
        child.close();
      }
    }
  }

  /**
   * One measurement.
   *
   * @param wallNs from the first request to the last block
   * @param ownerCpuNs CPU time of the owner's process meanwhile
   * @param readerCpuNs CPU time of the reader's process meanwhile
   * @param byNetty blocks that came by Netty although the transport is another
   */
  record Sample(long wallNs, long ownerCpuNs, long readerCpuNs, long byNetty) {
    long cpuNs() {
      return ownerCpuNs + readerCpuNs;
    }

    Sample plus(Sample other) {
      return new Sample(
          wallNs + other.wallNs,
          ownerCpuNs + other.ownerCpuNs,
          readerCpuNs + other.readerCpuNs,
          byNetty + other.byNetty);
    }
  }
}
