package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A reduce task's part of {@link ServeBenchmark}: up to twenty maps at a time, as Hadoop does. */
final class ServeReader implements AutoCloseable {
  private static final int MAPS_AT_A_TIME = 20;
  private static final Job JOB = MapOutputFiles.job(1);

  private final Source source;
  private final CloseStack parts;

  /** Fetches segments, and copies each to the heap. */
  private interface Source {
    long fetch(int fromMap, int toMap, int reduce, int segmentBytes) throws Exception;
  }

  private ServeReader(Source source, CloseStack parts) {
    this.source = source;
    this.parts = parts;
  }

  static ServeReader http(int port) {
    return new ServeReader(new Http(port), new CloseStack());
  }

  static ServeReader rdma(int port) throws Exception {
    try (CloseStack undo = new CloseStack()) {
      DisniProvider soft = undo.push(DisniProviders.soft());
      SoftReader reader = undo.push(new SoftReader(soft, port, JOB.credential()));
      return new ServeReader(new Rdma(reader), undo.handOver());
    }
  }

  @Override
  public void close() {
    parts.close();
  }

  /** All segments of these maps, which have so many bytes each; returns the sum. */
  long fetch(int fromMap, int toMap, int segmentBytes) throws Exception {
    long bytes = 0;
    for (int reduce = 0; reduce < ServeBenchmark.REDUCES; reduce++) {
      for (int map = fromMap; map < toMap; map += MAPS_AT_A_TIME) {
        bytes += source.fetch(map, Math.min(toMap, map + MAPS_AT_A_TIME), reduce, segmentBytes);
      }
    }
    return bytes;
  }

  private record Http(int port) implements Source {
    @Override
    public long fetch(int fromMap, int toMap, int reduce, int segmentBytes) throws Exception {
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
    public long fetch(int fromMap, int toMap, int reduce, int segmentBytes) throws Exception {
      List<BlockKey> keys = new ArrayList<>();
      int pieces = (segmentBytes + MapOutputKeys.PIECE_BYTES - 1) / MapOutputKeys.PIECE_BYTES;
      for (int map = fromMap; map < toMap; map++) {
        for (int piece = 0; piece < pieces; piece++) {
          keys.add(MapOutputKeys.pieceKeyOf(MapOutputFiles.attempt(JOB, map), reduce, piece));
        }
      }
      SoftReader.Fetched fetched = reader.fetch(keys);
      if (fetched.fallbacks() > 0) {
        throw new IOException(fetched.fallbacks() + " pieces fell back");
      }
      long bytes = 0;
      for (int i = 0; i < keys.size(); i++) {
        bytes += fetched.read(i).bytes().length;
      }
      return bytes;
    }
  }
}
