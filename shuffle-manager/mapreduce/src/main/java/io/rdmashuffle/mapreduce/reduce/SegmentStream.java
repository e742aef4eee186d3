package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.Map;

/**
 * The bytes of one segment, piece after piece. A piece's memory is given back as soon as it is
 * read. Gives exactly as many bytes as the index says, or throws {@link SegmentLostException}.
 *
 * <p>One thread. Closing ends the segment; the batch does that, too.
 */
public final class SegmentStream extends InputStream {
  private final SegmentBatch batch;
  private final InFlight segment;
  private final Map<Block.Source, Long> bytesBySource = new EnumMap<>(Block.Source.class);
  private long leftBytes;
  private Block piece;
  private InputStream in;
  private SegmentLostException failure;

  SegmentStream(SegmentBatch batch, InFlight segment) {
    this.batch = batch;
    this.segment = segment;
    this.leftBytes = segment.partBytes();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (leftBytes > 0) {
      if (piece == null) {
        open();
      }
      int n = readPiece(into, offset, (int) Math.min(length, leftBytes));
      if (n > 0) {
        leftBytes -= n;
        if (leftBytes == 0) { // whoever knows the length does not ask for the end
          closePiece();
        }
        return n;
      }
      closePiece();
    }
    return -1;
  }

  private int readPiece(byte[] into, int offset, int length) throws IOException {
    try {
      return in.read(into, offset, length);
    } catch (IOException e) { // somebody closed it: the transport is stopping
      throw lost(new SegmentLostException(FallbackReason.STOPPING, e.getMessage()));
    }
  }

  private void open() throws IOException {
    try {
      piece = batch.take(segment);
    } catch (SegmentLostException e) {
      throw lost(e);
    }
    bytesBySource.merge(piece.source(), piece.bytes(), Long::sum);
    in = piece.stream();
  }

  private SegmentLostException lost(SegmentLostException e) {
    failure = e;
    return e;
  }

  private void closePiece() {
    if (piece != null) {
      long bytes = piece.bytes();
      piece.close();
      piece = null;
      in = null;
      batch.given(bytes);
    }
  }

  /** Why reading failed; null if it did not. What else goes wrong is not the transport's fault. */
  public SegmentLostException failure() {
    return failure;
  }

  /** How many bytes came which way, so far. */
  Map<Block.Source, Long> bytesBySource() {
    return bytesBySource;
  }

  /** Idempotent. */
  @Override
  public void close() {
    leftBytes = 0;
    closePiece();
  }
}
