package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.handover.Errand;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slow calls of a connection being established: makes the link on its id, and closes both again
 * if nothing comes of it. Nothing is allocated to hand them over, so that neither can be lost.
 *
 * <p><b>Threads:</b> {@link #make} on the CM thread, {@link #close} and the owner's callbacks on
 * the progress thread, the calls themselves on the slow pool.
 */
final class LinkWork extends Errand {
  private static final Logger LOG = LoggerFactory.getLogger(LinkWork.class);

  /** Whose connection it is. */
  interface Owner {
    /** {@link #make} has ended, with {@link #link} or {@link #failure}. */
    void onMade();

    /** Everything is closed. */
    void onGone();
  }

  private enum Task {
    NONE,
    MAKE,
    CLOSE,
    CLOSED
  }

  private final Establishing establishing;
  private final ProtectionDomain domain;
  private final ConnectionShape shape;
  private final Owner owner;
  private final Work forgetId = Work.of(this::forgetId);
  private volatile CmId id;
  private volatile Link link;
  private volatile Throwable failure;
  private volatile Task task = Task.NONE;
  private Reason rejection;

  LinkWork(Establishing establishing, ProtectionDomain domain, ConnectionShape shape, Owner owner) {
    super(establishing.context().loop());
    this.establishing = establishing;
    this.domain = domain;
    this.shape = shape;
    this.owner = owner;
  }

  /** Takes over the id. */
  void useId(CmId created) {
    id = created;
  }

  CmId id() {
    return id;
  }

  /** Null while there is none. */
  Link link() {
    return link;
  }

  /** Why there is no link. */
  Throwable failure() {
    return failure;
  }

  boolean isMaking() {
    return task == Task.MAKE;
  }

  void make() {
    task = Task.MAKE;
    establishing.context().slowPool().execute(this);
  }

  /** As {@link #close}, and tells the peer why. */
  void reject(Reason reason) {
    rejection = reason;
    close();
  }

  /**
   * Closes what there is, unless that is done or under way, or the link is being made: the owner
   * comes again then. May be called again, should an Error have kept it from its end.
   */
  void close() {
    if (task == Task.NONE) {
      task = Task.CLOSE;
      establishing.context().slowPool().execute(this);
    }
  }

  @Override
  protected void go() throws Exception {
    if (task == Task.MAKE) {
      link = establishing.maker().make(id, domain, shape);
    } else {
      closeParts();
    }
  }

  private void closeParts() {
    Reason reason = rejection;
    rejection = null; // once
    if (link != null) {
      link.close();
    } else if (id != null && reason != null) {
      Rejecting.rejectAndClose(id, reason);
    } else if (id != null) {
      id.close();
    }
  }

  @Override
  protected void back(Throwable thrown) {
    boolean made = task == Task.MAKE;
    if (made) {
      failure = thrown;
      task = Task.NONE;
      owner.onMade();
    } else if (thrown == null) {
      task = Task.CLOSED;
      establishing.cm().execute(forgetId);
      owner.onGone();
    } else if (thrown instanceof VirtualMachineError) { // no memory: the recovery comes again
      task = Task.NONE;
      establishing.context().loop().fail(thrown);
    } else {
      LOG.error("a connection that came to nothing could not be closed", thrown);
    }
  }

  /** The loop has ended: nobody takes over what was made. */
  @Override
  protected void homeless() {
    if (task == Task.MAKE) {
      closeParts();
    }
  }

  private void forgetId() {
    establishing.cm().forget(id);
  }
}
