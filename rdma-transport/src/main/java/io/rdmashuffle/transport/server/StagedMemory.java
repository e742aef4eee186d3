package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.wire.Reply;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The chunks that the copies of one request lie in. Written by jobs before anybody is told of it;
 * given back, once, to {@link Staging#release} when no adapter can READ it any more.
 */
final class StagedMemory {
  private final List<Chunk> chunks;

  StagedMemory(List<Chunk> chunks) {
    this.chunks = chunks.stream().sorted(Comparator.comparingLong(Chunk::address)).toList();
  }

  /** A part of a block: where to write it, and where the reader finds it. */
  record Part(ByteBuffer buffer, Reply.Piece piece) {}

  /**
   * The parts of a block, in order. Chunks that follow each other in memory hold one part together:
   * one call reads it from the file, and one READ fetches it.
   */
  List<Part> parts(StagingLayout.Place place, long bytes) {
    List<Part> parts = new ArrayList<>(1);
    int index = place.chunk();
    int offset = place.offsetBytes();
    for (long left = bytes; left > 0; ) {
      Chunk first = chunks.get(index);
      int last = lastOfRun(index, offset + left);
      long room = (last - index + 1L) * first.bytes() - offset;
      int length = (int) Math.min(left, room); // a slab is less than 2 GiB
      Reply.Piece piece = new Reply.Piece(first.address() + offset, first.rkey(), length);
      parts.add(new Part(first.view(chunks.get(last), offset, length), piece));
      left -= length;
      index = last + 1;
      offset = 0;
    }
    return parts;
  }

  /** The last chunk that follows without a gap, or the first behind which no more are needed. */
  private int lastOfRun(int first, long bytes) {
    int last = first;
    long missing = bytes - chunks.get(first).bytes();
    while (missing > 0 && chunks.get(last).isFollowedBy(chunks.get(last + 1))) {
      last++;
      missing -= chunks.get(last).bytes();
    }
    return last;
  }

  void close() {
    for (int i = 0; i < chunks.size(); i++) { // allocates nothing
      chunks.get(i).close();
    }
  }
}
