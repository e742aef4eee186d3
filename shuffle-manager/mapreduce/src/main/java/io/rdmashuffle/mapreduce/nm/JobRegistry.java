package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs on this NodeManager, from Hadoop's callbacks to the transport. The callbacks come on the
 * one thread that dispatches all events of containers, for each container again, and must not wait:
 * they only note what is to be done, and the worker does it in that order.
 *
 * <p><b>Threads:</b> {@link #add} and {@link #remove} any; the rest of the work is the worker's,
 * which must be a single thread.
 */
final class JobRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(JobRegistry.class);

  /** Of jobs that ended: a container that was on its way then must not revive them. */
  private static final int REMEMBERED = 4096;

  private final Executor worker;
  private final Tenants tenants;
  private final JobCatalog catalog;
  private final Store store;
  private final Map<ApplicationId, Job> jobs = new HashMap<>();
  private final Set<ApplicationId> ended = new LinkedHashSet<>();

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

  JobRegistry(Executor worker, Tenants tenants, JobCatalog catalog, Store store) {
    this.worker = worker;
    this.tenants = tenants;
    this.catalog = catalog;
    this.store = store;
  }

  /** Of a NodeManager that was restarted. */
  void recover(List<Job> recovered) {
    for (Job job : recovered) {
      if (note(job)) {
        worker.execute(() -> start(job));
      }
    }
  }

  /** Hadoop says so once per container. */
  void add(Job job) {
    Job before;
    synchronized (this) {
      before = jobs.get(job.application());
      if (!note(job)) {
        return;
      }
    }
    worker.execute(
        () -> {
          if (before != null) {
            end(before);
          }
          start(job);
          save(job);
        });
  }

  private synchronized boolean note(Job job) {
    Job before = jobs.get(job.application());
    if (ended.contains(job.application()) || (before != null && before.isSameAs(job))) {
      return false;
    }
    jobs.put(job.application(), job);
    return true;
  }

  /** The application ended. */
  void remove(ApplicationId application) {
    Job job;
    synchronized (this) {
      job = jobs.remove(application);
      ended.add(application);
      if (ended.size() > REMEMBERED) {
        ended.remove(ended.iterator().next());
      }
    }
    if (job != null) {
      worker.execute(
          () -> {
            end(job);
            delete(application);
          });
    }
  }

  synchronized int size() {
    return jobs.size();
  }

  // ---- on the worker

  private void start(Job job) {
    JobCredential credential = job.credential();
    try {
      if (!catalog.add(job) || !tenants.admit(credential.id(), credential.secret())) {
        LOG.warn("{} has the {} of another job, its reducers take HTTP", job, credential);
      }
    } catch (TransportException | RuntimeException e) {
      LOG.warn("{} is not served by RDMA, its reducers take HTTP", job, e);
    }
  }

  /** There is another transport: it knows no job yet. */
  void admitAll() {
    List<Job> known;
    synchronized (this) {
      known = List.copyOf(jobs.values());
    }
    known.stream().filter(catalog::has).forEach(this::admit);
  }

  private void admit(Job job) {
    JobCredential credential = job.credential();
    try {
      boolean fresh = tenants.admit(credential.id(), credential.secret());
      LOG.debug("{} is {}", job, fresh ? "served by RDMA" : "served already");
    } catch (TransportException | RuntimeException e) {
      LOG.warn("{} is not served by RDMA, its reducers take HTTP", job, e);
    }
  }

  private void end(Job job) {
    if (!catalog.has(job)) {
      return; // another job has its credential
    }
    catalog.remove(job);
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
