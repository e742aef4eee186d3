package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.WcStatus;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * Faults for one kind of request. They count requests as each reaches the head of its queue, from
 * the moment the fault is set: 1 is the next. Any thread.
 */
public final class RequestFaults {
  /** What becomes of a request: at most one of these. */
  record Outcome(WcStatus status, boolean corrupts, Hold hold) {
    static final Outcome NONE = new Outcome(null, false, null);

    boolean isNone() {
      return status == null && !corrupts && hold == null;
    }

    boolean isHold() {
      return hold != null;
    }
  }

  private static final class Fault {
    private final Outcome outcome;
    private final boolean everyRequest;
    private int remaining;

    Fault(int nth, boolean everyRequest, Outcome outcome) {
      if (nth < 1) {
        throw new IllegalArgumentException("1 is the next request, not " + nth);
      }
      this.remaining = nth;
      this.everyRequest = everyRequest;
      this.outcome = outcome;
    }

    boolean isHit() {
      return everyRequest || --remaining == 0;
    }

    boolean isSpent() {
      return everyRequest ? outcome.hold().isReleased() : remaining <= 0;
    }
  }

  private final FakeFaults owner;
  private final BiPredicate<FakeQueuePair, SendRequest> filter;
  private final List<Fault> faults = new ArrayList<>();

  RequestFaults(FakeFaults owner, BiPredicate<FakeQueuePair, SendRequest> filter) {
    this.owner = owner;
    this.filter = filter;
  }

  /** The nth completes with this status, and its queue pair breaks. */
  public void fail(int nth, WcStatus status) {
    add(new Fault(nth, false, new Outcome(status, false, null)));
  }

  /** One bit of what the nth brings is wrong. READs only. */
  public void corrupt(int nth) {
    add(new Fault(nth, false, new Outcome(null, true, null)));
  }

  /** The nth, and what its queue holds behind it, is not carried out until the test lets go. */
  public Hold hold(int nth) {
    Hold hold = new Hold(owner.fabric());
    add(new Fault(nth, false, new Outcome(null, false, hold)));
    return hold;
  }

  /** Like {@link #hold}, of every queue from now on. */
  public Hold holdAll() {
    Hold hold = new Hold(owner.fabric());
    add(new Fault(1, true, new Outcome(null, false, hold)));
    return hold;
  }

  /** The nth, and what its queue holds behind it, is carried out that much later. */
  public void delay(int nth, long delayNs) {
    Hold hold = new Hold(owner.fabric());
    owner.delayed(hold, delayNs);
    add(new Fault(nth, false, new Outcome(null, false, hold)));
  }

  private void add(Fault fault) {
    synchronized (owner.fabric()) {
      faults.add(fault);
    }
  }

  /** Every fault counts the request; the first that is hit wins. */
  Outcome onRequest(FakeQueuePair qp, SendRequest request) {
    Outcome outcome = Outcome.NONE;
    if (!filter.test(qp, request)) {
      return outcome;
    }
    for (Iterator<Fault> it = faults.iterator(); it.hasNext(); ) {
      Fault fault = it.next();
      boolean spent = fault.everyRequest && fault.isSpent();
      if (!spent && fault.isHit() && outcome.isNone()) {
        outcome = fault.outcome;
      }
      if (fault.isSpent()) {
        it.remove();
      }
    }
    if (outcome.isHold()) {
      owner.held(outcome.hold(), qp);
    }
    return outcome;
  }
}
