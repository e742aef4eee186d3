package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.wire.Reply;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The chunks that the copies of one request lie in. Written by jobs before anybody is told of it;
 * given back, once, to {@link Staging#release} when no adapter can READ it any more.
 */
final class StagedMemory {
  private final List<Chunk> chunks;

  StagedMemory(List<Chunk> chunks) {
    this.chunks = List.copyOf(chunks);
  }

  /** A part of a block: where to write it, and where the reader finds it. */
  record Part(ByteBuffer buffer, Reply.Piece piece) {}

  /** The parts of a block, in order, each within one chunk. */
  List<Part> parts(StagingLayout.Place place, long bytes) {
    List<Part> parts = new ArrayList<>(1);
    int index = place.chunk();
    int offset = place.offsetBytes();
    for (long left = bytes; left > 0; ) {
      Chunk chunk = chunks.get(index);
      int length = (int) Math.min(left, chunk.bytes() - offset);
      Reply.Piece piece = new Reply.Piece(chunk.address() + offset, chunk.rkey(), length);
      parts.add(new Part(chunk.view(offset, length), piece));
      left -= length;
      index++;
      offset = 0;
    }
    return parts;
  }

  void close() {
    chunks.forEach(Chunk::close);
  }
}
