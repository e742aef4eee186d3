package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.wire.Reply;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * One block to be read from its file: into the reply, or into staging memory. Filled in on the slow
 * pool, one thread at a time; the progress thread looks when the job is done.
 */
final class BlockCopy {
  private final int index;
  private final FileEntry entry;
  private final BlockLocation block;
  private final StagingLayout.Place place;
  private Reply.Answer answer;

  /**
   * @param index of the block in its request
   * @param place null for a block that travels in the reply
   */
  BlockCopy(int index, FileEntry entry, BlockLocation block, StagingLayout.Place place) {
    this.index = index;
    this.entry = entry;
    this.block = block;
    this.place = place;
  }

  int index() {
    return index;
  }

  FileEntry entry() {
    return entry;
  }

  BlockLocation block() {
    return block;
  }

  boolean isInline() {
    return place == null;
  }

  /** Null until read or refused. */
  Reply.Answer answer() {
    return answer;
  }

  void refuse(FallbackReason reason) {
    answer = new Reply.NotByRdma(reason);
  }

  /**
   * Reads the whole block or fails.
   *
   * @param memory where the place is; unused for a block that travels in the reply
   * @throws NotServedException if the file ends too early
   */
  void read(FileChannel file, StagedMemory memory) throws IOException, NotServedException {
    if (isInline()) {
      byte[] bytes = new byte[(int) block.bytes()];
      readFully(file, ByteBuffer.wrap(bytes), block.offsetBytes());
      answer = new Reply.Inline(block.attribute(), bytes);
      return;
    }
    List<Reply.Piece> pieces = new ArrayList<>(1);
    long at = block.offsetBytes();
    for (StagedMemory.Part part : memory.parts(place, block.bytes())) {
      readFully(file, part.buffer(), at);
      at += part.piece().bytes();
      pieces.add(part.piece());
    }
    answer = new Reply.Granted(block.attribute(), true, pieces);
  }

  /** A read may return less than asked for: read(2). What is missing is never left as it was. */
  private void readFully(FileChannel file, ByteBuffer into, long offsetBytes)
      throws IOException, NotServedException {
    long at = offsetBytes;
    while (into.hasRemaining()) {
      int read = file.read(into, at);
      if (read < 0) {
        throw new NotServedException(
            FallbackReason.FILE_CHANGED, block.file() + " ends at " + at, null);
      }
      at += read;
    }
  }
}
