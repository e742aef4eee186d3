package io.rdmashuffle.spark;

import io.rdmashuffle.transport.client.Block;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** A block on the heap that counts how often it is closed. */
final class TestBlock implements Block {
  private final byte[] content;
  int closes;

  TestBlock(byte[] content) {
    this.content = content;
  }

  @Override
  public long bytes() {
    return content.length;
  }

  @Override
  public long attribute() {
    return 0;
  }

  @Override
  public Source source() {
    return Source.READ;
  }

  @Override
  public InputStream stream() {
    return new ByteArrayInputStream(content);
  }

  @Override
  public ByteBuffer[] buffers() {
    ByteBuffer[] pieces = new ByteBuffer[content.length];
    for (int i = 0; i < pieces.length; i++) {
      pieces[i] = ByteBuffer.wrap(content, i, 1).slice();
    }
    return pieces;
  }

  @Override
  public ByteBuffer buffer() {
    return ByteBuffer.wrap(content);
  }

  @Override
  public void close() {
    closes++;
  }
}
