package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The leases of one session. Names are unique in the process and only the session that was granted
 * a lease can end it. Progress thread only.
 */
final class LeaseTable {
  private final DomainState domain;
  private final Counters counters;
  private final LongSupplier ids;
  private final Map<Long, Lease> leases = new HashMap<>();

  LeaseTable(DomainState domain, Counters counters, LongSupplier ids) {
    this.domain = domain;
    this.counters = counters;
    this.ids = ids;
  }

  /** Names for leases: positive, counting on from somewhere, so that a restart names others. */
  static LongSupplier idsFrom(long start) {
    long[] last = {start};
    return () -> last[0] = Math.max(1, (last[0] + 1) & Long.MAX_VALUE);
  }

  /** Returns the lease's name; 0 for an empty lease, which is not kept. */
  long grant(Lease lease) {
    if (lease.isEmpty()) {
      return 0;
    }
    Long id = ids.getAsLong();
    boolean granted = false;
    try {
      leases.put(id, lease);
      granted = true;
    } finally {
      if (!granted) {
        leases.remove(id); // it may be there although the table could not grow
      }
    }
    counters.increment(Counter.LEASES_LIVE);
    return id;
  }

  /** Ends leases; names that are unknown, or released before, are ignored. */
  void end(long[] ids) {
    for (long id : ids) {
      Lease lease = leases.remove(id);
      if (lease == null) {
        counters.increment(Counter.LEASES_UNKNOWN);
      } else {
        end(lease);
      }
    }
  }

  /** Ends all of them: nobody can READ any more. */
  void endAll() {
    for (Iterator<Lease> all = leases.values().iterator(); all.hasNext(); ) {
      Lease lease = all.next();
      all.remove();
      end(lease);
    }
  }

  private void end(Lease lease) {
    try {
      lease.end(domain);
    } finally {
      counters.add(Counter.LEASES_LIVE, -1);
    }
  }

  int size() {
    return leases.size();
  }

  /** Whether a window of such a file is leased. */
  boolean holdsAny(Predicate<OutputFile> files) {
    return leases.values().stream().anyMatch(lease -> lease.holdsAny(files));
  }
}
