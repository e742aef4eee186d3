package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class RdmaManagedBufferTest {
  private static final byte[] CONTENT = {1, 2, 3};

  private final TestBlock block = new TestBlock(CONTENT);
  private final RdmaManagedBuffer buffer = new RdmaManagedBuffer(block);

  @Test
  void everyViewShowsTheBlock() throws IOException {
    assertThat(buffer.size()).isEqualTo(3);
    assertThat(buffer.createInputStream().readAllBytes()).isEqualTo(CONTENT);
    assertThat(buffer.createInputStream().readAllBytes()).isEqualTo(CONTENT);
    assertThat(buffer.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(CONTENT));
    assertThat(((ByteBuf) buffer.convertToNetty()).nioBuffer()).isEqualTo(ByteBuffer.wrap(CONTENT));
    assertThat(((ByteBuf) buffer.convertToNettyForSsl()).readableBytes()).isEqualTo(3);
  }

  @Test
  void nettyGetsThePiecesThemselves() {
    byte[] content = new byte[100];
    ByteBuf netty = (ByteBuf) new RdmaManagedBuffer(new TestBlock(content)).convertToNetty();

    content[99] = 7; // after the conversion

    assertThat(netty.getByte(99)).isEqualTo((byte) 7);
    assertThat(netty.nioBufferCount()).isEqualTo(100);
  }

  @Test
  void blockIsClosedByTheLastReleaseAlone() {
    buffer.retain();
    buffer.retain();
    buffer.release();
    buffer.release();
    assertThat(block.closes).isZero();
    buffer.release();
    assertThat(block.closes).isEqualTo(1);
  }

  @Test
  void oneReleaseTooManyDoesNothing() {
    buffer.release();
    buffer.release();
    assertThat(block.closes).isEqualTo(1);
  }

  @Test
  void useAfterTheLastReleaseIsRefused() {
    buffer.release();
    assertThatThrownBy(buffer::retain).isInstanceOf(IllegalStateException.class);
    assertThat(block.closes).isEqualTo(1);
  }
}
