package io.rdmashuffle.spark;

import io.netty.buffer.Unpooled;
import io.rdmashuffle.transport.client.Block;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A fetched block as Spark wants it, over the memory it landed in.
 *
 * <p><b>Threads:</b> any. <b>Ownership:</b> counts references, beginning with one for its maker;
 * the last release closes the block, and streams taken from it throw from then on.
 */
final class RdmaManagedBuffer extends ManagedBuffer {
  private final Block block;
  private final AtomicInteger references = new AtomicInteger(1);

  RdmaManagedBuffer(Block block) {
    this.block = block;
  }

  @Override
  public long size() {
    return block.bytes();
  }

  /** Copies a block of several pieces to the heap; Spark reads shuffled blocks as streams. */
  @Override
  public ByteBuffer nioByteBuffer() {
    return block.buffer();
  }

  @Override
  public InputStream createInputStream() {
    return block.stream();
  }

  @Override
  public ManagedBuffer retain() {
    if (references.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
      throw new IllegalStateException(this + " was released before");
    }
    return this;
  }

  /**
   * One release too many does nothing: a thread that reads on while its task ends may release the
   * same result as the task does (ShuffleBlockFetcherIterator.releaseCurrentResultBuffer takes no
   * lock), and an exception there would fail the task.
   */
  @Override
  public ManagedBuffer release() {
    if (references.getAndUpdate(count -> Math.max(0, count - 1)) == 1) {
      block.close();
    }
    return this;
  }

  @Override
  public Object convertToNetty() {
    ByteBuffer[] pieces = block.buffers();
    return Unpooled.wrappedBuffer(pieces.length, pieces); // more than its usual 16 it would copy
  }

  /** Abstract in Spark 4, unknown in 3.5: hence no Override, which would not matter to the JVM. */
  @SuppressWarnings("MissingOverride")
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }

  @Override
  public String toString() {
    return "RdmaManagedBuffer(" + block.bytes() + " bytes)";
  }
}
