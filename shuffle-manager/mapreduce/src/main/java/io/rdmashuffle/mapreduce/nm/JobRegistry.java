package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.handover.Workers;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs on this NodeManager, from Hadoop's callbacks to the transport. The callbacks come on the
 * one thread that dispatches all events of containers, for each container again, and must not wait:
 * they only note which jobs there are, and wake the worker. That compares what it has done with
 * what is noted: whatever could not be handed over or done is done the next time, with the next
 * container, the next end of a job, or the next adapter.
 *
 * <p><b>Threads:</b> {@link #add}, {@link #remove} and {@link #onOpen} any; {@link #settle} the
 * worker's, which must be a single thread.
 */
final class JobRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(JobRegistry.class);

  /** Of jobs that ended: a container that was on its way then must not revive them. */
  private static final int REMEMBERED = 4096;

  /** The opening of a job that was noted before it was begun. */
  private static final int NOT_YET = -1;

  private final Signal changed;
  private final Tenants tenants;
  private final JobCatalog catalog;
  private final Store store;
  private final LogLimit errors = new LogLimit(NanoClock.system());
  private final Map<ApplicationId, Job> jobs = new LinkedHashMap<>();
  private final Set<ApplicationId> ended = new LinkedHashSet<>();
  private final AtomicInteger openings = new AtomicInteger();
  private final Map<ApplicationId, Served> served = new HashMap<>(); // the worker's

  /** What has a record; null while it is not known which job that is of. The worker's. */
  private final Map<ApplicationId, Job> stored = new HashMap<>();

  /**
   * A job that was begun, or is to be ended as if it were.
   *
   * @param opening of the adapter that knows it, or {@link #NOT_YET}
   */
  private record Served(Job job, int opening) {}

  /** Keeps jobs for the NodeManager's next start. */
  interface Store {
    /** Where the NodeManager keeps nothing. */
    Store NONE =
        new Store() {
          @Override
          public void save(Job job) {
            // nothing to recover
          }

          @Override
          public void delete(ApplicationId application) {
            // nothing was kept
          }

          @Override
          public List<Job> load() {
            return List.of();
          }
        };

    /** It is kept for sure when this returns. */
    void save(Job job) throws IOException;

    void delete(ApplicationId application) throws IOException;

    /** Every job that is kept and can be read. */
    List<Job> load() throws IOException;
  }

  JobRegistry(Workers worker, Tenants tenants, JobCatalog catalog, Store store) {
    this.changed = new Signal(worker, this::settle);
    this.tenants = tenants;
    this.catalog = catalog;
    this.store = store;
  }

  /** Of a NodeManager that was restarted. Before there is a worker. */
  void recover(List<Job> recovered) {
    for (Job job : recovered) {
      stored.put(job.application(), job);
      add(job);
    }
  }

  /** Hadoop says so once per container. */
  void add(Job job) {
    note(job);
    wake();
  }

  private synchronized void note(Job job) {
    if (!ended.contains(job.application()) && !isIn(jobs, job)) {
      jobs.put(job.application(), job);
    }
  }

  private static boolean isIn(Map<ApplicationId, Job> jobs, Job job) {
    Job other = jobs.get(job.application());
    return other != null && other.isSameAs(job);
  }

  /** The application ended. */
  void remove(ApplicationId application) {
    end(application);
    wake();
  }

  private synchronized void end(ApplicationId application) {
    jobs.remove(application);
    ended.add(application);
    if (ended.size() > REMEMBERED) {
      ended.remove(ended.iterator().next());
    }
  }

  /** There is another transport: it knows no job yet. */
  void onOpen() {
    openings.incrementAndGet();
    wake();
  }

  /** The worker looks what is not done yet. */
  void wake() {
    changed.raise();
  }

  synchronized int size() {
    return jobs.size();
  }

  private synchronized Map<ApplicationId, Job> noted() {
    return new LinkedHashMap<>(jobs);
  }

  // ---- on the worker

  /** Does what is not done yet. */
  void settle() {
    int opening = openings.get();
    Map<ApplicationId, Job> wanted = noted();
    forEach(
        served.values().stream().map(Served::job).filter(job -> !isIn(wanted, job)).toList(),
        job -> {
          end(job);
          served.remove(job.application());
        });
    forEach(
        stored.keySet().stream().filter(application -> !wanted.containsKey(application)).toList(),
        application -> {
          delete(application);
          stored.remove(application);
        });
    forEach(wanted.values(), job -> settle(job, opening));
  }

  /** Notes what it does first: whatever starting and saving meet, what they did is undone. */
  private void settle(Job job, int opening) {
    Served before = served.get(job.application());
    if (before != null && !before.job().isSameAs(job)) {
      return; // it could not be ended
    }
    if (before == null || before.opening() != opening) {
      served.put(job.application(), new Served(job, NOT_YET));
      if (start(job)) {
        served.put(job.application(), new Served(job, opening));
      }
    }
    if (!isIn(stored, job)) {
      stored.put(job.application(), null);
      save(job);
      stored.put(job.application(), job);
    }
  }

  /** What one job meets leaves the others alone. */
  private <T> void forEach(Collection<T> all, Consumer<T> step) {
    for (T one : all) {
      try {
        step.accept(one);
      } catch (Throwable e) { // OutOfMemoryError above all
        logWaiting(one, e);
      }
    }
  }

  private void logWaiting(Object job, Throwable cause) {
    errors.log(
        this,
        more -> LOG.warn("{} waits for another attempt with the next job{}", job, more, cause));
  }

  /** Returns false if it is worth another attempt. */
  private boolean start(Job job) {
    if (!catalog.add(job) && !catalog.has(job)) {
      LOG.warn("{} has the {} of another job, its reducers take HTTP", job, job.credential());
      return true;
    }
    JobCredential credential = job.credential();
    try {
      boolean fresh = tenants.admit(credential.id(), credential.secret());
      LOG.debug("{} is {}", job, fresh ? "served by RDMA" : "served already");
    } catch (TransportException | RuntimeException e) {
      if (e instanceof TransportException t && t.kind() == TransportException.Kind.RETRY) {
        logWaiting(job, e);
        return false;
      }
      LOG.warn("{} is not served by RDMA, its reducers take HTTP", job, e);
    }
    return true;
  }

  private void end(Job job) {
    if (!catalog.remove(job)) {
      return; // another job has its credential
    }
    CompletableFuture<Void> unused = // it says so if it fails
        tenants
            .withdraw(job.credential().id())
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    LOG.warn("what was registered for {} is not all gone", job, failure);
                  }
                });
  }

  private void save(Job job) {
    try {
      store.save(job);
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} will not be recovered after a restart, its reducers take HTTP then", job, e);
    }
  }

  private void delete(ApplicationId application) {
    try {
      store.delete(application);
    } catch (IOException | RuntimeException e) {
      LOG.warn("the record of {} cannot be deleted", application, e);
    }
  }
}
