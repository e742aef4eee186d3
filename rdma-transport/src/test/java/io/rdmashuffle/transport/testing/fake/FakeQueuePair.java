package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.testing.fake.SendRequest.Kind;
import io.rdmashuffle.transport.testing.fake.SendRequest.Local;
import io.rdmashuffle.transport.testing.fake.SendRequest.Remote;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The queues and the state of one end of a connection; {@link ReliableConnection} has the rules of
 * what crosses it.
 *
 * <p>A held request keeps its queue from flushing, as an adapter does that is slow to give up:
 * until it is let go, or the queue pair destroyed, its memory may still be written.
 */
final class FakeQueuePair extends Tracked implements QueuePair {
  private enum State {
    CREATED,
    CONNECTED,
    ERROR
  }

  record Receive(long wrId, long address, int bytes, int lkey) {}

  final FakeDomain domain;
  private final FakeCompletionQueue completions;
  private final QueuePairCapacity capacity;
  private final int number;
  private final Deque<SendRequest> sends = new ArrayDeque<>();
  private final Deque<Receive> receives = new ArrayDeque<>();
  private final ReliableConnection connection = new ReliableConnection(this);
  private State state = State.CREATED;
  private Blocker blocker = Blocker.NONE;
  private int sendSlotsUsed;
  private int receiveSlotsUsed;
  private int unsignalled;

  private enum Blocker {
    NONE,
    /** A fault holds the head. */
    HELD,
    /** The fault has let go. */
    RELEASED,
    /** The peer has posted no receive. */
    RECEIVER_NOT_READY
  }

  FakeQueuePair(FakeDomain domain, FakeCompletionQueue completions, QueuePairCapacity capacity) {
    super(domain.fabric, Resource.QUEUE_PAIR);
    this.domain = domain;
    this.completions = completions;
    this.capacity = capacity;
    this.number = fabric.nextQueuePairNumber();
    domain.addChild();
    completions.attach(this);
    domain.device.adapter.addQueuePair(this);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public void postReceive(long wrId, long address, int bytes, int lkey) throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_post_recv");
      if (receiveSlotsUsed == capacity.receiveEntries()) {
        throw bug("ibv_post_recv beyond " + receiveSlotsUsed + " entries", Errno.ENOMEM);
      }
      receiveSlotsUsed++;
      receives.add(new Receive(wrId, address, bytes, lkey));
      if (state == State.ERROR) {
        flush();
      }
      connection.receivePosted();
      fabric.changed();
    }
  }

  @Override
  public void postSend(long wrId, long address, int bytes, int lkey) throws VerbsException {
    synchronized (fabric) {
      requirePostable(1);
      Local local = new Local(address, bytes, lkey);
      sends.add(new SendRequest(Kind.SEND, wrId, true, local, Remote.NONE));
      posted();
    }
  }

  @Override
  public void postReads(ReadChain reads) throws VerbsException {
    synchronized (fabric) {
      if (reads.size() == 0) {
        throw bug("ibv_post_send of an empty chain", Errno.EINVAL);
      }
      requirePostable(reads.size());
      for (int i = 0; i < reads.size(); i++) {
        Local local = new Local(reads.localAddress(i), reads.bytes(i), reads.lkey(i));
        Remote remote = new Remote(reads.remoteAddress(i), reads.rkey(i));
        boolean last = i == reads.size() - 1;
        sends.add(new SendRequest(Kind.READ, reads.wrId(i), last, local, remote));
      }
      posted();
    }
  }

  private void requirePostable(int requests) throws VerbsException {
    requireOpen("ibv_post_send");
    if (state == State.CREATED) {
      throw bug("ibv_post_send before the connection stands", Errno.EINVAL);
    }
    if (requests > capacity.sendEntries() - sendSlotsUsed) {
      String used = sendSlotsUsed + " of " + capacity.sendEntries();
      throw bug("ibv_post_send of " + requests + " with " + used + " in use", Errno.ENOMEM);
    }
    sendSlotsUsed += requests;
  }

  private void posted() {
    if (state == State.ERROR) {
      flush();
    } else {
      schedule();
    }
    fabric.changed();
  }

  @Override
  public void allowRemoteReads(boolean allowed) throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_modify_qp");
      connection.allowRemoteReads(allowed);
    }
  }

  @Override
  public void toError() throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_modify_qp");
      enterError();
      connection.hangUp();
      fabric.changed();
    }
  }

  // ---- for the rest of the package, under the monitor

  void connect(FakeQueuePair peer, boolean active) {
    connection.connect(peer, active);
    if (state == State.CREATED) {
      state = State.CONNECTED;
    }
  }

  boolean isConnected() {
    return state == State.CONNECTED && !isClosed();
  }

  ReliableConnection connection() {
    return connection;
  }

  /** Null if none is posted. */
  Receive peekReceive() {
    return receives.peek();
  }

  void completeReceive(WcStatus status, int bytes) {
    completions.add(new Completion(this, receives.remove().wrId(), status, bytes, 0));
  }

  void executeHead() {
    if (state == State.ERROR || sends.isEmpty()) {
      flush();
      return;
    }
    SendRequest request = sends.peek();
    RequestFaults.Outcome fault = RequestFaults.Outcome.NONE;
    if (blocker == Blocker.NONE) {
      fault = fabric.faults().onRequest(this, request);
      if (fault.isHold()) {
        blocker = Blocker.HELD;
        return;
      }
    }
    finishHead(request, fault);
    schedule();
  }

  private void finishHead(SendRequest request, RequestFaults.Outcome fault) {
    WcStatus status = fault.status() != null ? fault.status() : connection.carry(request);
    if (status == null) {
      blocker = Blocker.RECEIVER_NOT_READY;
      return;
    }
    blocker = Blocker.NONE;
    if (status == WcStatus.SUCCESS) {
      if (fault.corrupts()) {
        connection.corrupt(request);
      }
      completeHead(WcStatus.SUCCESS);
    } else {
      completeHead(status);
      enterError();
    }
  }

  /** Unsignalled success shows nowhere. */
  private void completeHead(WcStatus status) {
    SendRequest request = sends.remove();
    unsignalled++;
    if (request.signalled() || status != WcStatus.SUCCESS) {
      completions.add(new Completion(this, request.wrId(), status, 0, unsignalled));
      unsignalled = 0;
    }
  }

  /** The fault that held the head lets go: even now, in the error state, a READ lands. */
  void releaseHead() {
    if (blocker != Blocker.HELD || isClosed()) {
      return;
    }
    blocker = Blocker.RELEASED;
    if (state == State.ERROR) {
      if (sends.peek().isRead()) {
        connection.carry(sends.peek());
      }
      blocker = Blocker.NONE;
      flush();
    } else {
      schedule();
    }
  }

  void receiverReady() {
    if (blocker == Blocker.RECEIVER_NOT_READY) {
      schedule();
    }
  }

  void enterError() {
    if (state == State.ERROR || isClosed()) {
      return;
    }
    state = State.ERROR;
    flush();
    connection.broken();
  }

  void retire(Completion completion) {
    if (completion.isReceive()) {
      receiveSlotsUsed--;
    } else {
      sendSlotsUsed -= completion.slots();
    }
  }

  int sendEntriesInUse() {
    return sends.size();
  }

  private void schedule() {
    boolean blocked = blocker == Blocker.HELD || blocker == Blocker.RECEIVER_NOT_READY;
    boolean retry = blocker == Blocker.RECEIVER_NOT_READY && connection.canRetry();
    if (!sends.isEmpty() && (!blocked || retry)) {
      fabric.ready(this);
    }
  }

  private void flush() {
    fabric.notReady(this);
    if (state != State.ERROR || blocker == Blocker.HELD) {
      return;
    }
    while (!sends.isEmpty()) {
      completeHead(WcStatus.WR_FLUSH_ERR);
    }
    while (!receives.isEmpty()) {
      completeReceive(WcStatus.WR_FLUSH_ERR, 0);
    }
  }

  @Override
  void release() {
    state = State.ERROR;
    sends.clear();
    receives.clear();
    fabric.notReady(this);
    connection.broken();
    completions.detach(this);
    domain.device.adapter.removeQueuePair(this);
    domain.removeChild();
  }
}
