package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What exists once per connection: the connection manager's id, the queue pair on it, and the
 * frames posted to that. Made and closed on the slow pool; the parts are used elsewhere.
 */
final class Link implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  private final CmId id;
  private final QueuePair qp;
  private final Frames frames;
  private final ConnectionShape shape;

  private Link(CmId id, QueuePair qp, Frames frames, ConnectionShape shape) {
    this.id = id;
    this.qp = qp;
    this.frames = frames;
    this.shape = shape;
  }

  /** Makes links for one device. */
  record Maker(ChannelParts parts, CompletionQueue completions) {
    /**
     * If this throws, the id is still the caller's, with nothing on it.
     *
     * @param id goes over to the link
     */
    Link make(CmId id, ProtectionDomain domain, ConnectionShape shape) throws TransportException {
      MemorySource source =
          new MemorySource(
              parts.memory(),
              domain,
              parts.budget(),
              MemoryBudget.Use.MESSAGES,
              Access.LOCAL_WRITE);
      try (CloseStack undo = new CloseStack()) {
        Frames frames = undo.push(Frames.allocate(source, shape.frames()));
        QueuePair qp = id.createQueuePair(domain, completions, shape.capacity());
        Link link = new Link(id, qp, frames, shape);
        undo.handOver();
        return link;
      }
    }
  }

  CmId id() {
    return id;
  }

  QueuePair qp() {
    return qp;
  }

  Frames frames() {
    return frames;
  }

  ConnectionShape shape() {
    return shape;
  }

  /**
   * Breaks the connection, destroys the queue pair, then frees the frames. Waits for the adapter;
   * when it returns, the adapter writes to nothing that was posted here. Called again if it throws.
   */
  @Override
  public void close() {
    attempt(qp::toError); // first: flushing starts while the rest is on its way
    attempt(id::disconnect);
    id.close();
    frames.close(); // only now: if that failed, the adapter may still write to them
  }

  private static void attempt(Step step) {
    try {
      step.run();
    } catch (VerbsException | RuntimeException e) { // destroying it is what counts
      LOG.debug("closing a connection that was never whole, or is broken", e);
    }
  }

  private interface Step {
    void run() throws VerbsException;
  }
}
