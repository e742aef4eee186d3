package io.rdmashuffle.transport.verbs.disni;

import com.sun.management.ThreadMXBean;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Prints what posting READs and polling for them costs, by size and chain length, and what it
 * allocates. The CPU time is that of the posting thread, which on the software adapter also copies
 * what is small; it means something on a busy host, where the elapsed time does not. A main
 * program, for people: {@code ReadCost [soft | system:ADDRESS]}. Comparisons with other programs
 * take {@link #latenciesNs} from here.
 */
public final class ReadCost {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int ROUNDS = 5;
  private static final int CHAIN = 16;
  private static final int LARGEST = 65_536;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

  private final CompletionQueue completions;
  private final QueuePair queuePair;
  private final MemoryRegion source;
  private final MemoryRegion sink;
  private final WorkCompletions batch = new WorkCompletions(CHAIN);

  private ReadCost(CloseStack opened, VerbsProvider provider, InetAddress address)
      throws Exception {
    Device device = opened.push(provider.open(address));
    ProtectionDomain domain = opened.push(device.allocateProtectionDomain());
    completions = opened.push(device.createCompletionQueue(256));
    source = register(opened, provider, domain, Access.REMOTE_READ);
    boolean iwarp = device.attributes().iwarp();
    sink =
        register(
            opened, provider, domain, iwarp ? Access.LOCAL_AND_REMOTE_WRITE : Access.LOCAL_WRITE);
    queuePair = connect(opened, device, domain);
  }

  public static void main(String[] args) throws Exception {
    TestDevice chosen = TestDevice.parse(args.length == 0 ? "soft" : args[0]);
    try (DisniProvider provider = chosen.load();
        CloseStack opened = new CloseStack()) {
      ReadCost cost = new ReadCost(opened, provider, chosen.address());
      for (int bytes : new int[] {8, 4096, LARGEST}) {
        for (int length : new int[] {1, CHAIN}) {
          cost.measure(bytes, length);
        }
      }
    }
  }

  /**
   * How long single READs take of which each is slept for, as {@code ib_read_lat -e} does.
   *
   * @param warmUp how many go before those that are returned
   */
  public static double[] latenciesNs(
      VerbsProvider provider, InetAddress address, int bytes, int warmUp, int count)
      throws Exception {
    double[] latencies = new double[count];
    try (CloseStack opened = new CloseStack()) {
      ReadCost cost = new ReadCost(opened, provider, address);
      ReadChain one = cost.chain(bytes, 1);
      for (int i = -warmUp; i < count; i++) {
        long start = System.nanoTime();
        cost.queuePair.postReads(one);
        cost.sleepForCompletion();
        latencies[Math.max(0, i)] = System.nanoTime() - start;
      }
    }
    return latencies;
  }

  private static MemoryRegion register(
      CloseStack opened, VerbsProvider provider, ProtectionDomain domain, Access access)
      throws Exception {
    Mapping mapping = opened.push(provider.hostMemory().allocate(CHAIN * LARGEST));
    mapping.view(0, CHAIN * LARGEST).put(new byte[CHAIN * LARGEST]);
    return opened.push(domain.register(mapping.address(), mapping.bytes(), access));
  }

  private QueuePair connect(CloseStack opened, Device device, ProtectionDomain domain)
      throws Exception {
    QueuePairCapacity capacity = new QueuePairCapacity(64, 16);
    CmChannel cm = opened.push(device.openCmChannel());
    CmId listener = opened.push(cm.listen(0, 1));
    CmId active = opened.push(cm.createId());
    active.resolveAddress(listener.localAddress(), PATIENCE_NS);
    cm.await(PATIENCE_NS);
    active.resolveRoute(PATIENCE_NS);
    cm.await(PATIENCE_NS);
    final QueuePair made = active.createQueuePair(domain, completions, capacity);
    active.connect(new byte[0]);
    CmEvent request = cm.await(PATIENCE_NS);
    opened.push(request.id());
    QueuePair passive = request.id().createQueuePair(domain, completions, capacity);
    request.id().accept(new byte[0]);
    cm.await(PATIENCE_NS);
    cm.await(PATIENCE_NS);
    passive.allowRemoteReads(true);
    return made;
  }

  private ReadChain chain(int bytes, int length) {
    ReadChain chain = new ReadChain(CHAIN);
    for (int i = 0; i < length; i++) {
      long offset = (long) i * bytes;
      chain.add(bytes).from(source.address() + offset, source.rkey());
      chain.into(sink.address() + offset, sink.lkey());
    }
    return chain;
  }

  private void measure(int bytes, int length) throws Exception {
    ReadChain chain = chain(bytes, length);
    int posts = 200_000 / length / Math.max(1, bytes / 4096);
    run(chain, posts); // for the compiler
    long[] elapsedNs = new long[ROUNDS];
    long[] cpuNs = new long[ROUNDS];
    long allocated = allocatedBytes();
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      long cpu = THREADS.getCurrentThreadCpuTime();
      run(chain, posts);
      cpuNs[round] = (THREADS.getCurrentThreadCpuTime() - cpu) / posts / length;
      elapsedNs[round] = (System.nanoTime() - start) / posts / length;
    }
    allocated = allocatedBytes() - allocated;
    System.out.printf(
        "%6d bytes, chain of %2d: ns per READ elapsed %s, CPU %s; %.3f bytes allocated%n",
        bytes,
        length,
        spread(elapsedNs),
        spread(cpuNs),
        (double) allocated / posts / length / ROUNDS);
  }

  private static String spread(long[] values) {
    Arrays.sort(values);
    return values[ROUNDS / 2] + " (" + values[0] + " to " + values[ROUNDS - 1] + ")";
  }

  private void run(ReadChain chain, int posts) throws Exception {
    for (int i = 0; i < posts; i++) {
      queuePair.postReads(chain);
      while (completions.poll(batch) == 0) {
        Thread.onSpinWait();
      }
      checkCompletion();
    }
  }

  private void sleepForCompletion() throws Exception {
    completions.arm();
    while (completions.poll(batch) == 0) {
      completions.await(PATIENCE_NS);
      completions.arm();
    }
    checkCompletion();
  }

  private void checkCompletion() {
    if (batch.status(0) != WcStatus.SUCCESS) {
      throw new AssertionError(batch.status(0));
    }
  }

  private static long allocatedBytes() {
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
  }
}
