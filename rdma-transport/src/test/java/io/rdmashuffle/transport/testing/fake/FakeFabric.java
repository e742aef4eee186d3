package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A network of fake adapters with addresses 10.0.0.1, 10.0.0.2 and so on.
 *
 * <p><b>Immediate</b>: each call does its work before it returns, and waits really wait.
 * <b>Stepped</b>: posted work, connection events and delays move only in {@link #step()} and {@link
 * #runUntilIdle()}, and waits only look, so that a test under a manual clock is one thread and
 * always the same.
 *
 * <p><b>Threads:</b> any. There is nothing to close; end each test with {@link
 * #assertNothingOpen()}.
 */
public final class FakeFabric {
  /** What an adapter has unless the test says otherwise. */
  public static final DeviceAttributes DEFAULT_ATTRIBUTES =
      new DeviceAttributes(1024, 4096, 65536, 8192, 1L << 31, 4, 16, 16, false);

  private final boolean stepped;
  private final NanoClock clock;
  private final Ledger ledger = new Ledger();
  private final FakeFaults faults = new FakeFaults(this);
  private final Map<InetAddress, FakeAdapter> adapters = new LinkedHashMap<>();
  private final Map<Integer, FakeRegion> regionsByKey = new HashMap<>();
  private final Deque<Runnable> cmWork = new ArrayDeque<>();
  private final Set<FakeQueuePair> readyQueuePairs = new LinkedHashSet<>();
  private final Random keys = new Random(42);
  private final Deque<Integer> droppedKeys = new ArrayDeque<>();
  private final VerbsProvider provider;
  private Random order;
  private boolean reusing;
  private int lastQueuePairNumber = 0x100;

  private FakeFabric(boolean stepped, NanoClock clock) {
    this.stepped = stepped;
    this.clock = clock;
    this.provider = newProcess(Long.MAX_VALUE, 4096);
  }

  /** Work is done by the calls that ask for it. */
  public static FakeFabric immediate() {
    return new FakeFabric(false, NanoClock.system());
  }

  /**
   * Work is done by {@link #step()}.
   *
   * @param clock the time of delay faults
   */
  public static FakeFabric stepped(NanoClock clock) {
    return new FakeFabric(true, clock);
  }

  /** Adds an adapter and returns its address. */
  public InetAddress addAdapter() {
    return addAdapter(DEFAULT_ATTRIBUTES);
  }

  public synchronized InetAddress addAdapter(DeviceAttributes attributes) {
    InetAddress address = ipv4(adapters.size() + 1);
    adapters.put(address, new FakeAdapter("fake" + adapters.size(), address, attributes));
    return address;
  }

  /** The libraries as a process without limits sees them. Reaches every adapter. */
  public VerbsProvider provider() {
    return provider;
  }

  /**
   * The libraries as another process sees them, with memory of its own.
   *
   * @param memlockBytes what it may register altogether
   * @param pageBytes a power of two
   */
  public VerbsProvider newProcess(long memlockBytes, int pageBytes) {
    return new FakeProvider(this, new FakeHostMemory(this, memlockBytes, pageBytes));
  }

  /** What shall go wrong. */
  public FakeFaults faults() {
    return faults;
  }

  /**
   * Serves queue pairs in random order from now on. Each queue stays in order, as on adapters.
   *
   * @param seed to be printed by the test
   */
  public synchronized void shuffleQueuePairs(long seed) {
    order = new Random(seed);
  }

  /**
   * From now on keys and addresses come back as soon as they are free: the worst an adapter and a
   * kernel may do to whoever still holds old ones.
   */
  public synchronized void reuseKeysAndAddresses() {
    reusing = true;
  }

  /**
   * Does one piece of work: a connection event, else one request of one queue pair.
   *
   * @return false if there was none
   */
  public synchronized boolean step() {
    faults.expireDelays(clock.nanoTime());
    Runnable event = cmWork.poll();
    if (event != null) {
      event.run();
    } else if (readyQueuePairs.isEmpty()) {
      return false;
    } else {
      FakeQueuePair qp = nextQueuePair();
      readyQueuePairs.remove(qp);
      qp.executeHead();
    }
    notifyAll();
    return true;
  }

  /** Does all work there is, also what follows from it. Returns how many steps that took. */
  public synchronized int runUntilIdle() {
    int steps = 0;
    while (step()) {
      steps++;
    }
    return steps;
  }

  /** Moves a queue pair to the error state as a fault of the adapter would. */
  public synchronized void breakQueuePair(int qpNumber) {
    for (FakeAdapter adapter : adapters.values()) {
      adapter.breakQueuePair(qpNumber);
    }
    changed();
  }

  /** Reports an asynchronous event on every open device of the address. */
  public synchronized void raise(InetAddress address, AsyncEvent event) {
    adapters.get(address).raise(event);
  }

  /** Cuts the cable: an event on the adapter's devices; traffic and connects fail at both ends. */
  public synchronized void portDown(InetAddress address) {
    adapters.get(address).setUp(false);
    changed();
  }

  public synchronized void portUp(InetAddress address) {
    adapters.get(address).setUp(true);
    changed();
  }

  public synchronized int openCount(Resource resource) {
    return ledger.count(resource);
  }

  /** How often a SEND found no receive posted and had to wait: a protocol with credits has none. */
  public synchronized long receiverNotReadyCount() {
    return adapters.values().stream().mapToLong(FakeAdapter::receiverNotReadyCount).sum();
  }

  /** Fails with the place where each was opened, and with every rule that was broken meanwhile. */
  public synchronized void assertNothingOpen() {
    ledger.assertNothingOpen();
  }

  // ---- for the rest of the package, under the monitor

  boolean isStepped() {
    return stepped;
  }

  NanoClock clock() {
    return clock;
  }

  Ledger ledger() {
    return ledger;
  }

  /** Null if nobody has it. */
  FakeAdapter adapter(InetAddress address) {
    return adapters.get(address);
  }

  /** To be called at the end of everything that may have made work. */
  void changed() {
    if (!stepped) {
      runUntilIdle();
    }
    notifyAll();
  }

  void later(Runnable event) {
    cmWork.add(event);
  }

  void ready(FakeQueuePair qp) {
    readyQueuePairs.add(qp);
  }

  void notReady(FakeQueuePair qp) {
    readyQueuePairs.remove(qp);
  }

  int nextQueuePairNumber() {
    return ++lastQueuePairNumber;
  }

  /** Unique, not zero, of either sign, and different for local and remote use. */
  int newKey(FakeRegion region) {
    int key = reusing && !droppedKeys.isEmpty() ? droppedKeys.pop() : 0;
    while (key == 0 || regionsByKey.containsKey(key)) {
      key = keys.nextInt();
    }
    regionsByKey.put(key, region);
    return key;
  }

  void dropKey(int key) {
    regionsByKey.remove(key);
    if (reusing) {
      droppedKeys.push(key);
    }
  }

  boolean isReusing() {
    return reusing;
  }

  /** Null if no region has it. */
  FakeRegion region(int key) {
    return regionsByKey.get(key);
  }

  /** Waits for the condition, the end of the time or an interrupt; where waits only look, does. */
  void awaitUntil(BooleanSupplier condition, long timeoutNs) {
    long deadlineNs = clock.nanoTime() + timeoutNs;
    while (!condition.getAsBoolean()) {
      long leftNs = deadlineNs - clock.nanoTime();
      if (stepped || leftNs <= 0) {
        return;
      }
      try {
        wait(1 + Math.min(leftNs, faults.nextDelayNs(clock.nanoTime())) / 1_000_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      runUntilIdle();
    }
  }

  private FakeQueuePair nextQueuePair() {
    int index = order == null ? 0 : order.nextInt(readyQueuePairs.size());
    return readyQueuePairs.stream().skip(index).findFirst().orElseThrow();
  }

  private static InetAddress ipv4(int host) {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, (byte) (host >> 8), (byte) host});
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
