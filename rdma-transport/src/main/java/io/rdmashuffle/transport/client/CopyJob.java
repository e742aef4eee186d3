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

  /** Takes over the batch's transit memory. To be called before its blocks are told. */
  static CopyJob of(ClientContext context, ReadBatch batch) {
    List<Part> parts = new ArrayList<>(batch.copies());
    for (int i = 0; i < batch.size(); i++) {
      if (batch.copy(i) != null) {
        CopiedOut landing = (CopiedOut) batch.block(i).landing();
        if (landing.beginCopy()) {
          parts.add(new Part(batch.block(i), landing, batch.copy(i)));
        } else {
          batch.copy(i).release();
        }
      }
    }
    return new CopyJob(context, parts);
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
    try {
      parts.forEach(part -> part.end(context.outcomes()));
    } finally {
      context.outstanding().end();
    }
  }

  /** One READ of one block. */
  private static final class Part {
    private final PendingBlock block;
    private final CopiedOut landing;
    private final CopyOut copy;
    private boolean copied;
    private boolean released;

    Part(PendingBlock block, CopiedOut landing, CopyOut copy) {
      this.block = block;
      this.landing = landing;
      this.copy = copy;
    }

    void run() {
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
