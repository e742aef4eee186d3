package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.CmEvent.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One side of the rig: what a process would have open on the device. Driven by the test's thread.
 *
 * @param device opened for this end alone
 */
public record RigEnd(
    Device device, ProtectionDomain domain, CompletionQueue completions, CmChannel cm) {
  /** How long anything may take that must happen. */
  static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

  /** How long a test watches for what must not happen. */
  static final long WATCH_NS = TimeUnit.MILLISECONDS.toNanos(50);

  static final QueuePairCapacity CAPACITY = new QueuePairCapacity(64, 64);

  /** An id of an end with its queue pair. */
  public record Port(RigEnd end, CmId id, QueuePair queuePair) {}

  /** One work completion, copied out of the batch. */
  public record Completion(long wrId, WcStatus status, int bytes, int qpNumber) {}

  static RigEnd open(VerbsRig rig) throws VerbsException {
    Device device = rig.own(rig.provider().open(rig.address()));
    ProtectionDomain domain = rig.own(device.allocateProtectionDomain());
    CompletionQueue completions = rig.own(device.createCompletionQueue(512));
    return new RigEnd(device, domain, completions, rig.own(device.openCmChannel()));
  }

  QueuePair queuePair(CmId id) throws VerbsException {
    return id.createQueuePair(domain, completions, CAPACITY);
  }

  /** The next event, within {@link #PATIENCE_NS}. */
  CmEvent nextEvent() throws VerbsException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    for (long left = PATIENCE_NS; left > 0; left = deadline - System.nanoTime()) {
      CmEvent event = cm.await(left);
      if (event != null) {
        return event;
      }
    }
    throw new AssertionError("no connection event within 10 s");
  }

  CmEvent expect(CmId id, Type type) throws VerbsException {
    CmEvent event = nextEvent();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    assertThat(event.id()).isSameAs(id);
    return event;
  }

  /** The next event of one of the types for {@code id}; what else arrives before is left out. */
  CmEvent expectAmong(CmId id, Type... types) throws VerbsException {
    CmEvent event = nextEvent();
    while (event.id() != id || !List.of(types).contains(event.type())) {
      event = nextEvent();
    }
    return event;
  }

  Completion completion() throws VerbsException {
    return completions(1).get(0);
  }

  /** The next {@code count} completions; fails if there are fewer within {@link #PATIENCE_NS}. */
  List<Completion> completions(int count) throws VerbsException {
    List<Completion> found = new ArrayList<>();
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (found.size() < count) {
      take(found, count - found.size());
      long left = deadline - System.nanoTime();
      assertThat(left).as("%s of %s completions within 10 s", found.size(), count).isPositive();
      if (found.size() < count) {
        completions.arm();
        take(found, count - found.size());
        completions.await(found.size() < count ? left : 0);
      }
    }
    return found;
  }

  /** Whatever completes while the test watches for what must not. */
  List<Completion> strayCompletions() throws VerbsException {
    List<Completion> found = new ArrayList<>();
    long end = System.nanoTime() + WATCH_NS;
    for (long left = WATCH_NS; left > 0; left = end - System.nanoTime()) {
      completions.arm();
      take(found, 16);
      completions.await(left);
    }
    return found;
  }

  private void take(List<Completion> into, int most) throws VerbsException {
    WorkCompletions batch = new WorkCompletions(most);
    int count = completions.poll(batch);
    assertThat(count).isEqualTo(batch.size());
    for (int i = 0; i < count; i++) {
      into.add(new Completion(batch.wrId(i), batch.status(i), batch.bytes(i), batch.qpNumber(i)));
    }
  }
}
