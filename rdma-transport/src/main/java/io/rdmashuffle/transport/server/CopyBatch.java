package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The blocks of one request that are copied, with the staging memory they share. It keeps that
 * memory until every job has ended, whatever became of the request: a reader must never be given,
 * nor the pool take back, memory that a job still writes to.
 *
 * <p>Progress thread, except {@link #isAbandoned} and {@link #memory}, which jobs ask.
 */
final class CopyBatch {
  private static final int MOST_BLOCKS_PER_JOB = 32;
  private static final long ENOUGH_BYTES_PER_JOB = 4 << 20; // the end of each wakes a thread

  /** Hears once that every block is read or refused. Not if the batch was abandoned before. */
  interface Listener {
    void onCopied(CopyBatch batch);
  }

  private final DomainState domain;
  private final ServerParts parts;
  private final Listener listener;
  private final List<BlockCopy> copies;
  private Staging.Ticket ticket;
  private volatile StagedMemory memory;
  private volatile boolean abandoned;
  private boolean waiting;
  private int openJobs;

  CopyBatch(DomainState domain, ServerParts parts, List<BlockCopy> copies, Listener listener) {
    this.domain = domain;
    this.parts = parts;
    this.copies = copies;
    this.listener = listener;
  }

  List<BlockCopy> copies() {
    return copies;
  }

  /** Null if every block travels in the reply. */
  StagedMemory memory() {
    return memory;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** Whether it still waits for staging memory. */
  boolean isWaiting() {
    return waiting;
  }

  /**
   * Gets memory, perhaps later, and then reads.
   *
   * @param chunks staging memory needed, 0 for none
   */
  void start(int chunks, SlowLanes.Lane lane) {
    if (chunks == 0) {
      submit(lane);
      return;
    }
    waiting = true;
    ticket = domain.staging().newTicket(chunks, new Taker(lane));
    domain.staging().request(lane, ticket);
  }

  private final class Taker implements Staging.Taker {
    private final SlowLanes.Lane lane;

    Taker(SlowLanes.Lane lane) {
      this.lane = lane;
    }

    @Override
    public void onMemory(StagedMemory granted) {
      waiting = false;
      memory = granted;
      submit(lane);
    }

    @Override
    public void onRefused() {
      waiting = false;
      for (BlockCopy copy : copies) {
        if (!copy.isInline()) {
          copy.refuse(FallbackReason.OWNER_NO_MEMORY);
        }
      }
      submit(lane);
    }
  }

  private void submit(SlowLanes.Lane lane) {
    List<CopyJob> jobs = new ArrayList<>();
    List<BlockCopy> some = new ArrayList<>();
    long bytes = 0;
    for (BlockCopy copy : byFile()) {
      some.add(copy);
      bytes += copy.block().bytes();
      if (some.size() == MOST_BLOCKS_PER_JOB || bytes >= ENOUGH_BYTES_PER_JOB) {
        jobs.add(new CopyJob(this, some, parts));
        some = new ArrayList<>();
        bytes = 0;
      }
    }
    if (!some.isEmpty()) {
      jobs.add(new CopyJob(this, some, parts));
    }
    if (jobs.isEmpty()) {
      listener.onCopied(this);
    } else {
      submit(jobs, lane);
    }
  }

  /** All of them, or none. */
  private void submit(List<CopyJob> jobs, SlowLanes.Lane lane) {
    List<SlowLanes.Turn> turns = jobs.stream().map(parts.lanes()::turn).toList();
    openJobs = jobs.size(); // from here on nothing is allocated
    for (int i = 0; i < turns.size(); i++) {
      jobs.get(i).begin();
      lane.submit(turns.get(i));
    }
  }

  /** What is still to be read, each file's blocks together and in order. */
  private List<BlockCopy> byFile() {
    Map<FileEntry, List<BlockCopy>> byFile = new LinkedHashMap<>();
    copies.stream()
        .filter(c -> c.answer() == null)
        .forEach(c -> byFile.computeIfAbsent(c.entry(), e -> new ArrayList<>(1)).add(c));
    List<BlockCopy> ordered = new ArrayList<>(copies.size());
    for (List<BlockCopy> ofFile : byFile.values()) {
      ofFile.sort(Comparator.comparingLong(c -> c.block().offsetBytes()));
      ordered.addAll(ofFile);
    }
    return ordered;
  }

  void onJobDone(Throwable failure) {
    try {
      if (--openJobs == 0 && abandoned) {
        giveBack();
      } else if (openJobs == 0) {
        listener.onCopied(this);
      }
    } finally {
      if (failure != null) {
        parts.reports().jobFailed(failure);
      }
    }
  }

  /** The request is over: whatever is read from now on is for nobody. */
  void abandon() {
    abandoned = true;
    if (ticket != null) {
      ticket.cancel();
    }
    if (openJobs == 0) {
      giveBack(); // an Error has kept it from making its jobs
    }
  }

  /** A lease has taken over the memory. */
  void leased() {
    memory = null;
  }

  /** Returns memory that no lease took over. Idempotent. */
  void giveBack() {
    StagedMemory returned = memory;
    memory = null;
    if (returned != null) {
      domain.staging().release(returned);
    }
  }
}
