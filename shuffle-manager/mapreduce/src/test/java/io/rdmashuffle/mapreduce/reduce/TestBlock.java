package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.client.Block;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** A block on the heap, which tells when it is closed and is not read afterwards. */
final class TestBlock implements Block {
  private final byte[] content;
  private final int length;
  private final long attribute;
  private final Source source;
  private final Runnable whenClosed;
  private final AtomicBoolean closed = new AtomicBoolean();

  TestBlock(byte[] content, int length, long attribute, Source source, Runnable whenClosed) {
    this.content = content;
    this.length = length;
    this.attribute = attribute;
    this.source = source;
    this.whenClosed = whenClosed;
  }

  @Override
  public long bytes() {
    return length;
  }

  @Override
  public long attribute() {
    return attribute;
  }

  @Override
  public Source source() {
    return source;
  }

  @Override
  public InputStream stream() {
    return new ByteArrayInputStream(content, 0, length) {
      @Override
      public int read(byte[] into, int at, int count) {
        if (closed.get()) {
          throw new IllegalStateException("read after close");
        }
        return super.read(into, at, count);
      }
    };
  }

  @Override
  public ByteBuffer[] buffers() {
    return new ByteBuffer[] {buffer()};
  }

  @Override
  public ByteBuffer buffer() {
    return ByteBuffer.wrap(content, 0, length);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      whenClosed.run();
    }
  }
}
