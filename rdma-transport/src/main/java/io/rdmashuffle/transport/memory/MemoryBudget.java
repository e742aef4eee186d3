package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The one count of registered bytes of this process. Whoever registers reserves here first; pinned
 * pages count as the process's memory, and a container that exceeds its own is killed.
 *
 * <p>A use may be guaranteed a share, which the others then leave alone: without one, windows over
 * files would take everything, and readers could not read.
 *
 * <p><b>Threads:</b> any, without locks. <b>Errors:</b> releasing more than was reserved is a bug
 * and throws {@link IllegalStateException}. There is nothing to close.
 */
public final class MemoryBudget {
  /** What registered memory is used for. */
  public enum Use {
    /** Map-output files, registered in place. */
    WINDOWS,
    /** Copies of blocks that are not registered in place. */
    STAGING,
    /** What this process reads from others. */
    READER_POOL,
    /** Control messages of connections. */
    MESSAGES
  }

  /**
   * Something that bounds registered memory.
   *
   * @param bytes at most that many; {@link Long#MAX_VALUE} for unlimited
   * @param name what it is, for messages
   * @param remedy what raises it, for messages
   */
  public record Bound(long bytes, String name, String remedy) {
    private static final int QUEUES_SHARE = 8;

    public Bound {
      if (bytes < 0) {
        throw new IllegalArgumentException(name + " of " + bytes + " bytes is negative");
      }
    }

    /**
     * The kernel's limit (RLIMIT_MEMLOCK), less an eighth: an adapter's queues are pinned under the
     * same limit.
     *
     * @param memlockBytes as {@link io.rdmashuffle.transport.verbs.HostMemory#memlockBytes} tells
     */
    public static Bound memlock(long memlockBytes) {
      long left =
          memlockBytes == Long.MAX_VALUE
              ? memlockBytes
              : memlockBytes - memlockBytes / QUEUES_SHARE;
      return new Bound(
          left,
          "memlock limit of " + ByteText.of(memlockBytes) + ", less an eighth for queues",
          "raise it with ulimit -l, LimitMEMLOCK= of the service, or --ulimit memlock of the"
              + " container");
    }
  }

  private final Bound bound;
  private final Map<Use, Account> accounts = new EnumMap<>(Use.class);

  /** Of each use the larger of what it has and what it is guaranteed, summed up. */
  private final AtomicLong charged = new AtomicLong();

  private MemoryBudget(Bound bound, Map<Use, Integer> guaranteedPercent) {
    this.bound = bound;
    for (Use use : Use.values()) {
      long guaranteed = bound.bytes() / 100 * guaranteedPercent.getOrDefault(use, 0);
      accounts.put(use, new Account(guaranteed));
      charged.addAndGet(guaranteed);
    }
  }

  /**
   * A budget of the smallest of the bounds.
   *
   * @param bounds at least one
   * @param guaranteedPercent shares that only one use may take; together at most 100
   */
  public static MemoryBudget of(List<Bound> bounds, Map<Use, Integer> guaranteedPercent) {
    int sum = guaranteedPercent.values().stream().mapToInt(Integer::intValue).sum();
    if (sum > 100 || guaranteedPercent.values().stream().anyMatch(p -> p < 0)) {
      throw new IllegalArgumentException("guaranteed shares of " + guaranteedPercent + " percent");
    }
    Bound smallest =
        bounds.stream()
            .min(Comparator.comparingLong(Bound::bytes))
            .orElseThrow(() -> new IllegalArgumentException("a budget needs a bound"));
    return new MemoryBudget(smallest, guaranteedPercent);
  }

  /**
   * Raises the share that only this use may take to at least that much. Before anything is
   * reserved.
   *
   * @return false if the shares of the others do not leave that much
   */
  public boolean guarantee(Use use, long bytes) {
    Account account = accounts.get(use);
    long most = Math.max(bytes, account.guaranteed);
    boolean fits = tryCharge(most - account.guaranteed);
    if (fits) {
      account.guaranteed = most;
    }
    return fits;
  }

  /**
   * Takes all of it or nothing.
   *
   * @param bytes positive
   */
  public boolean tryReserve(Use use, long bytes) {
    requirePositive(bytes);
    Account account = accounts.get(use);
    while (true) {
      long used = account.used.get();
      if (bytes > bound.bytes() - used) {
        return false;
      }
      // The charge goes first: what is used is never more than what is charged.
      long extra = account.chargeOf(used + bytes) - account.chargeOf(used);
      if (!tryCharge(extra)) {
        return false;
      }
      if (account.used.compareAndSet(used, used + bytes)) {
        return true;
      }
      charged.addAndGet(-extra);
    }
  }

  /**
   * As {@link #tryReserve}, and pushes the release.
   *
   * @throws TransportException of kind RETRY if there is no room; then nothing was pushed
   */
  void reserve(Use use, long bytes, CloseStack undo) throws TransportException {
    AutoCloseable release = () -> release(use, bytes); // first: nothing is lost for want of heap
    if (!tryReserve(use, bytes)) {
      throw new TransportException(Kind.RETRY, refusal(use, bytes));
    }
    undo.push(release);
  }

  private boolean tryCharge(long extra) {
    while (true) {
      long now = charged.get();
      if (extra > bound.bytes() - now) {
        return false;
      }
      if (charged.compareAndSet(now, now + extra)) {
        return true;
      }
    }
  }

  /**
   * Gives back what {@link #tryReserve} took, in any portions.
   *
   * @throws IllegalStateException if the use has not reserved that many
   */
  public void release(Use use, long bytes) {
    requirePositive(bytes);
    Account account = accounts.get(use);
    while (true) {
      long used = account.used.get();
      if (bytes > used) {
        throw new IllegalStateException(
            "release of " + bytes + " bytes of " + use + ", which has reserved " + used);
      }
      if (account.used.compareAndSet(used, used - bytes)) {
        charged.addAndGet(account.chargeOf(used - bytes) - account.chargeOf(used));
        return;
      }
    }
  }

  private static void requirePositive(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException(bytes + " bytes of registered memory");
    }
  }

  public long limitBytes() {
    return bound.bytes();
  }

  /** The share that only this use may take. */
  public long guaranteedBytes(Use use) {
    return accounts.get(use).guaranteed;
  }

  /** What {@link #tryReserve} would grant this use now. */
  public long availableBytes(Use use) {
    Account account = accounts.get(use);
    long guaranteedLeft = Math.max(0, account.guaranteed - account.used.get());
    return guaranteedLeft + bound.bytes() - charged.get();
  }

  public long usedBytes(Use use) {
    return accounts.get(use).used.get();
  }

  /** Sum over all uses; may lag behind reservations in progress. */
  public long usedBytes() {
    return accounts.values().stream().mapToLong(a -> a.used.get()).sum();
  }

  /**
   * One line for the log at start: what is wanted against what there is, and what raises it.
   *
   * @param wantedBytes sum of what the settings ask for
   */
  public String describe(long wantedBytes) {
    String limit = ByteText.of(bound.bytes()) + " (" + bound.name() + ")";
    String line =
        "registered memory: up to " + ByteText.of(wantedBytes) + " wanted, limit " + limit;
    return wantedBytes > bound.bytes() ? line + "; " + bound.remedy() : line;
  }

  /** What bounds it, for messages. */
  public Bound bound() {
    return bound;
  }

  /** For the message of a refused reservation. */
  String refusal(Use use, long bytes) {
    return "no room for "
        + ByteText.of(bytes)
        + " of "
        + use
        + ": "
        + ByteText.of(usedBytes())
        + " registered of "
        + ByteText.of(bound.bytes())
        + " ("
        + bound.name()
        + "; "
        + bound.remedy()
        + ")";
  }

  private static final class Account {
    private long guaranteed; // final once something is reserved
    private final AtomicLong used = new AtomicLong();

    Account(long guaranteed) {
      this.guaranteed = guaranteed;
    }

    long chargeOf(long usedBytes) {
      return Math.max(guaranteed, usedBytes);
    }
  }
}
