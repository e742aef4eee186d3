package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A reduce task's part of {@link ServeBenchmark}: up to twenty maps at a time, as Hadoop does. */
final class ServeReader {
  private static final int MAPS_AT_A_TIME = 20;

  private static final Job JOB = MapOutputFiles.job(1);

  private final Source source;

  /** Fetches segments, and copies each to the heap. */
  private interface Source {
    long fetch(int fromMap, int toMap, int reduce) throws Exception;
  }

  private ServeReader(Source source) {
    this.source = source;
  }

  /**
   * @param args way, port, bytes of a segment
   */
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[1]);
    if (ServeBenchmark.Way.valueOf(args[0]) == ServeBenchmark.Way.HTTP) {
      new ServeReader(new Http(port)).run();
      return;
    }
    try (DisniProvider soft = DisniProviders.soft();
        SoftReader reader = new SoftReader(soft, port, JOB.credential())) {
      new ServeReader(new Rdma(reader, Integer.parseInt(args[2]))).run();
    }
  }

  private void run() throws Exception {
    int all = ServeBenchmark.MAPS + ServeBenchmark.WARM_UP_MAPS;
    fetch(ServeBenchmark.MAPS, all);
    System.out.println("WARM");
    while (System.in.read() != '\n') {
      // until the parent says GO
    }
    System.out.println("DONE " + fetch(0, ServeBenchmark.MAPS));
    while (System.in.read() >= 0) {
      // the parent looks at this process once more
    }
  }

  private long fetch(int fromMap, int toMap) throws Exception {
    long bytes = 0;
    for (int reduce = 0; reduce < ServeBenchmark.REDUCES; reduce++) {
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

  private record Rdma(SoftReader reader, int segmentBytes) implements Source {
    @Override
    public long fetch(int fromMap, int toMap, int reduce) throws Exception {
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
