package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.reduce.Arrival;
import io.rdmashuffle.mapreduce.reduce.Segment;
import io.rdmashuffle.mapreduce.reduce.SegmentBatch;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * A reduce task's part of {@link ServeBenchmark}: up to twenty maps at a time, as Hadoop does, and
 * by RDMA as a fetcher reads them.
 */
final class ServeReader implements AutoCloseable {
  private static final int MAPS_AT_A_TIME = 20;

  private static final Job JOB = MapOutputFiles.job(1);

  private final Source source;
  private final int reduces;
  private final CloseStack parts;

  /** Fetches segments, and copies each to the heap. */
  private interface Source {
    long fetch(int fromMap, int toMap, int reduce) throws Exception;
  }

  private ServeReader(Source source, int reduces, CloseStack parts) {
    this.source = source;
    this.reduces = reduces;
    this.parts = parts;
  }

  static ServeReader http(int port, int reduces) {
    return new ServeReader(new Http(port), reduces, new CloseStack());
  }

  static ServeReader rdma(int port, int reduces) throws Exception {
    try (CloseStack undo = new CloseStack()) {
      DisniProvider soft = undo.push(DisniProviders.soft());
      SoftReader reader = undo.push(new SoftReader(soft, port, JOB.credential()));
      return new ServeReader(new Rdma(reader), reduces, undo.handOver());
    }
  }

  @Override
  public void close() {
    parts.close();
  }

  /** All segments of these maps; returns how many bytes they are. */
  long fetch(int fromMap, int toMap) throws Exception {
    long bytes = 0;
    for (int reduce = 0; reduce < reduces; reduce++) {
      for (int map = fromMap; map < toMap; map += MAPS_AT_A_TIME) {
        bytes += source.fetch(map, Math.min(toMap, map + MAPS_AT_A_TIME), reduce);
      }
    }
    return bytes;
  }

  private record Http(int port) implements Source {
    @Override
    public long fetch(int fromMap, int toMap, int reduce) throws Exception {
      List<Integer> maps = new ArrayList<>();
      for (int map = fromMap; map < toMap; map++) {
        maps.add(map);
      }
      long bytes = 0;
      try (DataInputStream in = HttpSegments.open(port, JOB, maps, reduce)) {
        for (int i = 0; i < maps.size(); i++) {
          bytes += HttpSegments.next(in).length;
        }
      }
      return bytes;
    }
  }

  private record Rdma(SoftReader reader) implements Source {
    @Override
    public long fetch(int fromMap, int toMap, int reduce) throws Exception {
      List<TaskAttemptID> attempts = new ArrayList<>();
      for (int map = fromMap; map < toMap; map++) {
        attempts.add(MapOutputFiles.attempt(JOB, map));
      }
      long bytes = 0;
      try (SegmentBatch batch = reader.batch(reduce, attempts)) {
        for (Optional<Arrival> next = batch.next(); next.isPresent(); next = batch.next()) {
          if (!(next.get() instanceof Segment segment)) {
            throw new IOException(next.get() + " came instead of a segment");
          }
          byte[] whole = new byte[(int) segment.partBytes()]; // at once, as Hadoop does
          bytes += segment.stream().readNBytes(whole, 0, whole.length);
        }
      }
      return bytes;
    }
  }
}
