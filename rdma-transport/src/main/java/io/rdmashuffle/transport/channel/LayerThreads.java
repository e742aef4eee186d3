package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.WorkerPool;
import io.rdmashuffle.transport.handover.Workers;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of a channel layer, all made at opening. One owner, who closes it. */
final class LayerThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LayerThreads.class);
  private static final int SLOW_THREADS = 2;
  private static final long JOIN_NS = TimeUnit.SECONDS.toNanos(5);

  private final Threads threads;
  private final WorkerPool slowPool;
  private ChannelCore core;
  private Thread cm;
  private Thread progress;

  /** Makes those of the slow pool. */
  LayerThreads(Threads threads) throws TransportException {
    this.threads = threads;
    this.slowPool = WorkerPool.open(threads, "slow", SLOW_THREADS);
  }

  Workers slowPool() {
    return slowPool;
  }

  Threads threads() {
    return threads;
  }

  /**
   * Makes the others.
   *
   * @throws TransportException if the system gives no thread: {@link #end} ends those there are
   */
  void start(ChannelCore startedCore) throws TransportException {
    core = startedCore;
    slowPool.reportTo(core.loop()::fail);
    cm = threads.start("cm", core.cm());
    progress = threads.start("progress", core.loop());
  }

  @Override
  public void close() {
    end();
  }

  /**
   * The CM thread first, for it feeds the slow pool, then that, for it feeds the loop.
   *
   * @return false if one of them is still alive, which has been logged
   */
  boolean end() {
    boolean ended = true;
    if (cm != null) {
      core.cm().stop();
      ended = join(cm);
    }
    slowPool.close(); // what was handed in still runs
    ended &= slowPool.alive() == 0;
    if (progress != null) {
      core.loop().stop();
      ended &= join(progress);
    }
    return ended;
  }

  private static boolean join(Thread thread) {
    boolean ended = Threads.join(thread, JOIN_NS);
    if (!ended) {
      LOG.error("{} has not ended in time", thread.getName());
    }
    return ended;
  }
}
