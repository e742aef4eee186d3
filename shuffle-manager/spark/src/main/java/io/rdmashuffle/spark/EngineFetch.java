package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.EngineCounters;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Gets blocks through Spark's own shuffle, and counts them by the reason why. The listener hears of
 * each id once, whatever the client below does: an id it never reported before it threw, or that
 * was never asked for because the process stops, is reported as failed.
 */
final class EngineFetch implements BlockFetchingListener, PeerExecutor.Job {
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final BlockRequest request;
  private final FallbackReason reason;
  private final BlockStoreClient client;
  private final EngineCounters counters;
  private final Set<String> unreported; // guarded by itself: the client reports from any thread

  EngineFetch(BlockRequest request, FallbackReason reason, FetchServices services) {
    this.request = request;
    this.reason = reason;
    this.client = services.engine();
    this.counters = services.runtime().engineCounters();
    this.unreported = new HashSet<>(Arrays.asList(request.ids()));
  }

  /** All of a request on the caller's thread, where memory is short. */
  static void outlastShortage(BlockRequest request, FetchServices services) {
    long deadlineNs = NanoClock.system().nanoTime() + PATIENCE_NS;
    EngineFetch fetch = null;
    while (fetch == null) {
      try {
        fetch = new EngineFetch(request, FallbackReason.NO_MEMORY, services);
      } catch (OutOfMemoryError e) {
        if (NanoClock.system().nanoTime() - deadlineNs >= 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
    fetch.run();
  }

  /** As Spark would call it itself, on the task's thread: what the client throws is the task's. */
  void start() {
    client.fetchBlocks(
        request.host(), request.port(), request.executorId(), request.ids(), this, request.files());
  }

  @Override
  public void run() {
    long deadlineNs = NanoClock.system().nanoTime() + PATIENCE_NS;
    while (!tryStart(deadlineNs)) {
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** A shortage of memory or threads passes, while a failed fetch costs the stage. */
  private boolean tryStart(long deadlineNs) {
    try {
      start();
    } catch (OutOfMemoryError e) {
      if (NanoClock.system().nanoTime() - deadlineNs < 0) {
        return false;
      }
      failUnreported(new IOException("no memory or thread to fetch with", e));
    } catch (RuntimeException e) {
      failUnreported(e);
    } catch (Error e) {
      failUnreported(new IOException("the engine's own shuffle failed", e));
    }
    return true;
  }

  @Override
  public void abandon() {
    failUnreported(new IOException("the shuffle of this process is stopping"));
  }

  private void failUnreported(Exception cause) {
    List<String> ids;
    synchronized (unreported) {
      ids = List.copyOf(unreported);
    }
    ids.forEach(id -> onBlockFetchFailure(id, cause));
  }

  private boolean report(String id) {
    synchronized (unreported) {
      return unreported.remove(id);
    }
  }

  @Override
  public void onBlockFetchSuccess(String id, ManagedBuffer data) {
    if (report(id)) {
      counters.delivered(reason, data.size());
      request.listener().onBlockFetchSuccess(id, data);
    }
  }

  @Override
  public void onBlockFetchFailure(String id, Throwable cause) {
    if (report(id)) {
      counters.failed();
      request.listener().onBlockFetchFailure(id, cause);
    }
  }
}
