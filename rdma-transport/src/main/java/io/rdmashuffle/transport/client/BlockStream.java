package io.rdmashuffle.transport.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * Reads the parts of a block in order. Keeps the block reachable. Every read looks whether the
 * block is closed, before it touches the memory and again after it copied: what was copied while
 * another thread closed the block is never handed out.
 *
 * <p>One thread at a time; the block may be closed by any.
 */
final class BlockStream extends InputStream {
  private final PartsBlock block;
  private final ByteBuffer[] parts;
  private long left;
  private int at;

  BlockStream(PartsBlock block, ByteBuffer[] parts) {
    this.block = block;
    this.parts = parts;
    this.left = block.bytes();
  }

  @Override
  public int read() throws IOException {
    block.ensureOpen();
    if (left == 0) {
      return -1;
    }
    int value = part().get() & 0xff;
    left--;
    block.ensureOpen();
    return value;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    block.ensureOpen();
    if (length == 0) {
      return 0;
    }
    if (left == 0) {
      return -1;
    }
    int copied = 0;
    int wanted = (int) Math.min(length, left);
    while (copied < wanted) {
      ByteBuffer part = part();
      int n = Math.min(part.remaining(), wanted - copied);
      part.get(into, offset + copied, n);
      copied += n;
    }
    left -= copied;
    block.ensureOpen();
    return copied;
  }

  @Override
  public long skip(long bytes) throws IOException {
    block.ensureOpen();
    long skipped = 0;
    long wanted = Math.max(0, Math.min(bytes, left));
    while (skipped < wanted) {
      ByteBuffer part = part();
      int n = (int) Math.min(part.remaining(), wanted - skipped);
      part.position(part.position() + n);
      skipped += n;
    }
    left -= skipped;
    return skipped;
  }

  @Override
  public void skipNBytes(long bytes) throws IOException {
    if (bytes > 0 && skip(bytes) != bytes) {
      throw new EOFException(block + " ends " + left + " bytes from here");
    }
  }

  @Override
  public int available() throws IOException {
    block.ensureOpen();
    return (int) Math.min(left, Integer.MAX_VALUE);
  }

  @Override
  public long transferTo(OutputStream out) throws IOException {
    byte[] step = new byte[(int) Math.min(Math.max(left, 1), 64 << 10)];
    long moved = 0;
    for (int n = read(step); n >= 0; n = read(step)) {
      out.write(step, 0, n);
      moved += n;
    }
    return moved;
  }

  private ByteBuffer part() {
    while (!parts[at].hasRemaining()) {
      at++;
    }
    return parts[at];
  }
}
