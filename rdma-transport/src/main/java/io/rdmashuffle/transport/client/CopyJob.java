package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies what one chain of READs brought out of transit memory, which goes back at once. Made and
 * ended on the progress thread, run by a copy thread.
 */
final class CopyJob implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(CopyJob.class);

  private final ClientContext context;
  private final PendingBlock[] blocks;
  private final CopiedOut[] landings;
  private final Slice[] transits;
  private final int[] parts;
  private final byte[][] copies;

  private CopyJob(ClientContext context, ReadBatch batch) {
    this.context = context;
    int count = batch.transitCount();
    this.blocks = new PendingBlock[count];
    this.landings = new CopiedOut[count];
    this.transits = new Slice[count];
    this.parts = new int[count];
    this.copies = new byte[count][];
    for (int i = 0, n = 0; i < batch.size(); i++) {
      if (batch.transit(i) != null) {
        blocks[n] = batch.block(i);
        landings[n] = (CopiedOut) batch.block(i).landing();
        transits[n] = batch.transit(i);
        parts[n++] = batch.part(i);
      }
    }
  }

  /** Takes over the batch's transit memory. To be called before its blocks are told. */
  static CopyJob of(ClientContext context, ReadBatch batch) {
    return new CopyJob(context, batch);
  }

  void start() {
    context.outstanding().begin();
    try {
      context.threads().copy().execute(this);
    } catch (RejectedExecutionException expectedAfterStop) {
      for (Slice transit : transits) {
        transit.releaseAll();
      }
      ended();
    }
  }

  @Override
  public void run() {
    try {
      for (int i = 0; i < copies.length; i++) {
        copies[i] = copy(transits[i]);
      }
    } finally {
      context.loop().execute(this::ended);
    }
  }

  /** Returns null if the heap is full. */
  private static byte[] copy(Slice transit) {
    try {
      byte[] copy = new byte[transit.bytes()];
      ByteBuffer from = transit.view();
      from.get(copy);
      return copy;
    } catch (OutOfMemoryError e) {
      LOG.warn("No heap for {} bytes of a block read by RDMA", transit.bytes(), e);
      return null;
    } finally {
      transit.releaseAll();
    }
  }

  private void ended() {
    for (int i = 0; i < copies.length; i++) {
      end(blocks[i], landings[i], parts[i], copies[i]);
    }
    context.outstanding().end();
  }

  private void end(PendingBlock block, CopiedOut landing, int part, byte[] copy) {
    if (block.isGivenUp()) {
      return;
    }
    if (copy == null) {
      context.outcomes().fallBack(block.fetch(), block.index(), FallbackReason.NO_MEMORY);
    } else if (landing.copied(part, copy)) {
      context.outcomes().copiedOut(block, landing.parts());
    }
  }
}
