package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A completion queue that overflows like a real one. */
final class FakeCompletionQueue extends Tracked implements CompletionQueue {
  private static final int EVENT_CQ_ERR = 0; // IBV_EVENT_CQ_ERR
  private static final int VENDOR_ERROR = 0xFA;

  private final FakeDevice device;
  private final int entries;
  private final Deque<Completion> completions = new ArrayDeque<>();
  private final List<FakeQueuePair> queuePairs = new ArrayList<>();
  private boolean overflowed;
  private boolean armed;
  private boolean event;
  private boolean woken;

  FakeCompletionQueue(FakeDevice device, int entries) {
    super(device.fabric, Resource.COMPLETION_QUEUE);
    this.device = device;
    this.entries = entries;
    device.addChild();
  }

  @Override
  public int poll(WorkCompletions into) throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_poll_cq");
      into.clear();
      if (overflowed) {
        throw failure(Kind.BUG, "ibv_poll_cq of an overflowed queue", Errno.EIO);
      }
      while (into.size() < into.capacity() && !completions.isEmpty()) {
        take(completions.poll(), into);
      }
      return into.size();
    }
  }

  private static void take(Completion completion, WorkCompletions into) {
    int number = completion.qp().number();
    if (completion.status() == WcStatus.SUCCESS) {
      into.addSuccess(completion.wrId(), number, completion.bytes());
    } else {
      into.addFailure(completion.wrId(), completion.status(), number, VENDOR_ERROR);
    }
    completion.qp().retire(completion);
  }

  @Override
  public void arm() throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_req_notify_cq");
      armed = true;
    }
  }

  @Override
  public void await(long timeoutNs) throws VerbsException {
    synchronized (fabric) {
      requireOpen("poll of a completion channel");
      fabric.awaitUntil(() -> event || woken || isClosed(), timeoutNs);
      event = false;
      woken = false;
    }
  }

  @Override
  public void wakeUp() {
    synchronized (fabric) {
      woken = true;
      fabric.notifyAll();
    }
  }

  void add(Completion completion) {
    if (overflowed) {
      return;
    }
    if (completions.size() == entries) {
      overflow();
      return;
    }
    completions.add(completion);
    if (armed) {
      armed = false;
      event = true;
    }
  }

  private void overflow() {
    overflowed = true;
    event = true;
    device.raise(new AsyncEvent(AsyncEvent.Type.CQ_ERROR, EVENT_CQ_ERR));
    List.copyOf(queuePairs).forEach(FakeQueuePair::enterError);
  }

  void attach(FakeQueuePair qp) {
    queuePairs.add(qp);
  }

  void detach(FakeQueuePair qp) {
    queuePairs.remove(qp);
  }

  FakeDevice device() {
    return device;
  }

  @Override
  void release() {
    forbid(!queuePairs.isEmpty(), "closed before " + queuePairs.size() + " queue pairs on it");
    device.removeChild();
  }
}
