package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;

/** The script of what goes wrong on a fabric. Nothing does unless asked for here. Any thread. */
public final class FakeFaults {
  private final FakeFabric fabric;
  private final List<RequestFaults> requests = new ArrayList<>();
  private final Map<Hold, Long> delaysNs = new HashMap<>();
  private final Map<Hold, Long> dueNs = new HashMap<>();
  private final Map<Integer, Errno> registrations = new HashMap<>();
  private final Set<InetAddress> blackHoles = new HashSet<>();
  private final Set<InetAddress> unreachable = new HashSet<>();
  private final Map<CmEvent.Type, Hold> heldEvents = new EnumMap<>(CmEvent.Type.class);
  private BiPredicate<Path, MapMode> refusedFiles = (path, mode) -> false;
  private int registrationCount;

  FakeFaults(FakeFabric fabric) {
    this.fabric = fabric;
  }

  /** Faults of READs, whoever posts them. */
  public RequestFaults reads() {
    return when((qp, request) -> request.isRead());
  }

  /** Faults of READs that the adapter with this address posts. */
  public RequestFaults readsFrom(InetAddress address) {
    return when((qp, r) -> r.isRead() && qp.domain.device.address().equals(address));
  }

  /** Faults of SENDs, whoever posts them. */
  public RequestFaults sends() {
    return when((qp, request) -> !request.isRead());
  }

  /** Faults of SENDs that the adapter with this address posts. */
  public RequestFaults sendsFrom(InetAddress address) {
    return when((qp, r) -> !r.isRead() && qp.domain.device.address().equals(address));
  }

  /** Faults of whatever one queue pair sends. */
  public RequestFaults requestsOf(int qpNumber) {
    return when((qp, request) -> qp.number() == qpNumber);
  }

  private RequestFaults when(BiPredicate<FakeQueuePair, SendRequest> filter) {
    synchronized (fabric) {
      RequestFaults faults = new RequestFaults(this, filter);
      requests.add(faults);
      return faults;
    }
  }

  /**
   * The nth registration from now fails: ENOMEM as over a limit, EFAULT as for a refused mapping.
   *
   * @param nth 1 for the next
   */
  public void refuseRegistration(int nth, Errno errno) {
    synchronized (fabric) {
      registrations.put(registrationCount + nth, errno);
    }
  }

  /** The next so many registrations fail, as {@link #refuseRegistration} says. */
  public void refuseRegistrations(int count, Errno errno) {
    IntStream.rangeClosed(1, count).forEach(nth -> refuseRegistration(nth, errno));
  }

  /** Which file mappings the kernel does not let an adapter pin (EFAULT). None at first. */
  public void refuseFiles(BiPredicate<Path, MapMode> refused) {
    synchronized (fabric) {
      refusedFiles = refused;
    }
  }

  /** Connects to the address get no answer of any kind. */
  public void blackHole(InetAddress target) {
    synchronized (fabric) {
      blackHoles.add(target);
    }
  }

  /** Connects to the address end in UNREACHABLE. */
  public void makeUnreachable(InetAddress target) {
    synchronized (fabric) {
      unreachable.add(target);
    }
  }

  /** Ends {@link #blackHole} and {@link #makeUnreachable}; what was lost stays lost. */
  public void restore(InetAddress target) {
    synchronized (fabric) {
      blackHoles.remove(target);
      unreachable.remove(target);
    }
  }

  /** Connection events of this type do not reach their channels until the test lets go. */
  public Hold holdCmEvents(CmEvent.Type type) {
    synchronized (fabric) {
      Hold hold = new Hold(fabric);
      heldEvents.put(type, hold);
      return hold;
    }
  }

  // ---- for the rest of the package, under the monitor

  FakeFabric fabric() {
    return fabric;
  }

  RequestFaults.Outcome onRequest(FakeQueuePair qp, SendRequest request) {
    RequestFaults.Outcome outcome = RequestFaults.Outcome.NONE;
    for (RequestFaults faults : requests) {
      RequestFaults.Outcome own = faults.onRequest(qp, request);
      outcome = outcome.isNone() ? own : outcome;
    }
    return outcome;
  }

  void delayed(Hold hold, long delayNs) {
    synchronized (fabric) {
      delaysNs.put(hold, delayNs);
    }
  }

  void held(Hold hold, FakeQueuePair qp) {
    hold.keep(qp::releaseHead);
    Long delayNs = delaysNs.remove(hold);
    if (delayNs != null) {
      dueNs.put(hold, fabric.clock().nanoTime() + delayNs);
    }
  }

  void expireDelays(long nowNs) {
    List<Hold> due = dueNs.keySet().stream().filter(h -> dueNs.get(h) - nowNs <= 0).toList();
    due.forEach(
        hold -> {
          dueNs.remove(hold);
          hold.letGo();
        });
  }

  /** How long until the next delay ends. */
  long nextDelayNs(long nowNs) {
    return dueNs.values().stream()
        .mapToLong(due -> Math.max(0, due - nowNs))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Null if the registration may go on. */
  Errno onRegister() {
    registrationCount++;
    return registrations.remove(registrationCount);
  }

  boolean refusesFile(Path path, MapMode mode) {
    return refusedFiles.test(path, mode);
  }

  boolean isBlackHole(InetAddress target) {
    return blackHoles.contains(target);
  }

  boolean isUnreachable(InetAddress target) {
    return unreachable.contains(target);
  }

  /** Null if events of the type go through. */
  Hold heldEvents(CmEvent.Type type) {
    Hold hold = heldEvents.get(type);
    return hold == null || hold.isReleased() ? null : hold;
  }
}
