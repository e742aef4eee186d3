package io.rdmashuffle.transport.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * Reads the parts of a block in order. Keeps the block reachable. A call either finds the block
 * open and its memory stays until the call returns, or throws: the block may be closed by another
 * thread at any time. One thread at a time otherwise.
 */
final class BlockStream extends InputStream {
  private static final int TRANSFER_BYTES = 64 << 10;

  private final PartsBlock block;
  private ByteBuffer[] parts; // made by the first call
  private long left;
  private int at;

  BlockStream(PartsBlock block) {
    this.block = block;
    this.left = block.bytes();
  }

  @Override
  public int read() throws IOException {
    block.beginRead();
    try {
      if (left == 0) {
        return -1;
      }
      left--;
      return part().get() & 0xff;
    } finally {
      block.endRead();
    }
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    block.beginRead();
    try {
      if (length == 0) {
        return 0;
      }
      return left == 0 ? -1 : copy(into, offset, (int) Math.min(length, left));
    } finally {
      block.endRead();
    }
  }

  private int copy(byte[] into, int offset, int wanted) {
    int copied = 0;
    while (copied < wanted) {
      ByteBuffer part = part();
      int n = Math.min(part.remaining(), wanted - copied);
      part.get(into, offset + copied, n);
      copied += n;
    }
    left -= copied;
    return copied;
  }

  @Override
  public long skip(long bytes) throws IOException {
    block.beginRead();
    try {
      long wanted = Math.max(0, Math.min(bytes, left));
      for (long skipped = 0; skipped < wanted; ) {
        ByteBuffer part = part();
        int n = (int) Math.min(part.remaining(), wanted - skipped);
        part.position(part.position() + n);
        skipped += n;
      }
      left -= wanted;
      return wanted;
    } finally {
      block.endRead();
    }
  }

  @Override
  public void skipNBytes(long bytes) throws IOException {
    if (bytes > 0 && skip(bytes) != bytes) {
      throw new EOFException(block + " has fewer bytes left than the " + bytes + " to be skipped");
    }
  }

  @Override
  public int available() throws IOException {
    block.beginRead();
    block.endRead();
    return (int) Math.min(left, Integer.MAX_VALUE);
  }

  @Override
  public long transferTo(OutputStream out) throws IOException {
    byte[] step = new byte[(int) Math.min(Math.max(left, 1), TRANSFER_BYTES)];
    long moved = 0;
    for (int n = read(step); n >= 0; n = read(step)) {
      out.write(step, 0, n);
      moved += n;
    }
    return moved;
  }

  private ByteBuffer part() {
    if (parts == null) {
      parts = block.parts();
    }
    while (!parts[at].hasRemaining()) {
      at++;
    }
    return parts[at];
  }
}
