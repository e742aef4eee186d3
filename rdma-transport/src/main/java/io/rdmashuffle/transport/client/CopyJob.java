package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.handover.Errand;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies what one chain of READs brought out of transit memory, which goes back at once. Made and
 * ended on the progress thread, run by a copy thread.
 */
final class CopyJob extends Errand {
  private final ClientContext context;
  private final List<Part> parts;

  private CopyJob(ClientContext context, List<Part> parts) {
    super(context.loop());
    this.context = context;
    this.parts = parts;
  }

  /**
   * Takes over the batch's transit memory, unless it throws. To be called before its blocks are
   * told.
   */
  static CopyJob of(ClientContext context, ReadBatch batch) {
    List<Part> parts = new ArrayList<>(batch.copies());
    for (int i = 0; i < batch.size(); i++) {
      if (batch.copy(i) != null) {
        parts.add(new Part(batch.block(i), batch.copy(i)));
      }
    }
    CopyJob job = new CopyJob(context, parts);
    for (int i = 0; i < parts.size(); i++) { // from here on nothing is allocated
      parts.get(i).begin();
    }
    return job;
  }

  void start() {
    context.outstanding().begin();
    context.threads().copy().execute(this);
  }

  @Override
  protected void go() {
    parts.forEach(Part::run);
  }

  /** What was not copied, for whatever reason, falls back. */
  @Override
  protected void back(Throwable failure) {
    for (int i = 0; i < parts.size(); i++) {
      try {
        parts.get(i).end(context.outcomes());
      } catch (Throwable thrown) { // whatever it is, the other parts end as well
        context.loop().fail(thrown);
      }
    }
    context.outstanding().end();
  }

  /** One READ of one block. */
  private static final class Part {
    private final PendingBlock block;
    private final CopiedOut landing;
    private final CopyOut copy;
    private boolean begun;
    private boolean copied;
    private boolean released;

    Part(PendingBlock block, CopyOut copy) {
      this.block = block;
      this.landing = (CopiedOut) block.landing();
      this.copy = copy;
    }

    /** There may be nothing to copy to any more. */
    void begin() {
      begun = landing.beginCopy();
      if (!begun) {
        release();
      }
    }

    void run() {
      if (!begun) {
        return;
      }
      try {
        copy.run();
        copied = true;
      } finally {
        release();
      }
    }

    private void release() {
      if (!released) {
        released = true;
        copy.release();
      }
    }

    void end(Outcomes outcomes) {
      if (!begun) {
        return;
      }
      release();
      boolean complete = landing.copyEnded(copied ? copy.bytes() : 0);
      if (complete) {
        outcomes.copiedOut(block, landing.first());
      } else if (!copied) {
        outcomes.fallBack(block.fetch(), block.index(), FallbackReason.TRANSFER_FAILED);
        landing.release();
      }
    }
  }
}
