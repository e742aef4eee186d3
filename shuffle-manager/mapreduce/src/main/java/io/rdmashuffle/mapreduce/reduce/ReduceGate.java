package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.slf4j.Logger;

/**
 * Decides whether a reduce task uses RDMA, and opens it. The decision is made once, with one line
 * in the log, before Hadoop's scheduler and mergers are built.
 *
 * <p>Any thread; opening waits with a deadline.
 */
public final class ReduceGate {
  /** The group of the job counters. */
  public static final String COUNTERS = ShuffleCounters.GROUP;

  private static final Logger LOG = ReduceLog.logger();

  /** Opening takes well under a second; an adapter that hangs must not hang the task. */
  private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(20);

  private final Function<JobConf, ReduceSettings> settings;
  private final ReaderOpener opener;
  private final Duration openTimeout;

  /**
   * The task that asks.
   *
   * @param conf of the job
   * @param reduceId the attempt
   * @param secret of the job's shuffle; null if there is none
   * @param counters of the job
   */
  public record Task(
      JobConf conf, TaskAttemptID reduceId, SecretKey secret, ShuffleCounters.Sink counters) {}

  /** For this process. */
  public static ReduceGate system() {
    return new ReduceGate(ReduceSettings::from, new DeviceReaderOpener(), OPEN_TIMEOUT);
  }

  ReduceGate(
      Function<JobConf, ReduceSettings> settings, ReaderOpener opener, Duration openTimeout) {
    this.settings = settings;
    this.opener = opener;
    this.openTimeout = openTimeout;
  }

  /** The maps ran in this process, as LocalJobRunner and uber tasks do: nothing to fetch. */
  public Optional<ReduceSession> mapsAreLocal(Task task) {
    LOG.debug("{} reads its map outputs as local files", task.reduceId());
    return Optional.empty();
  }

  /**
   * @return empty if this task is to use Hadoop's own shuffle for everything; else closed by the
   *     caller
   * @throws InterruptedException if the task is to end
   */
  public Optional<ReduceSession> open(Task task) throws InterruptedException {
    ShuffleCounters counters = new ShuffleCounters(task.counters());
    ReduceSettings wanted;
    try {
      wanted = settings.apply(task.conf());
    } catch (ConfigException e) {
      return without(counters, e.getMessage());
    }
    if (wanted.isOff()) {
      LOG.info("RDMA shuffle is switched off in this job's settings");
      counters.taskWithoutRdma();
      return Optional.empty();
    }
    try {
      return Optional.of(open(task, wanted, counters));
    } catch (TransportException e) {
      LOG.debug("why there is no RDMA", e);
      return without(counters, e.getMessage());
    }
  }

  private static Optional<ReduceSession> without(ShuffleCounters counters, String why) {
    LOG.warn("no RDMA in this task, Hadoop's own shuffle is used: {}", why);
    counters.taskWithoutRdma();
    return Optional.empty();
  }

  private ReduceSession open(Task task, ReduceSettings wanted, ShuffleCounters counters)
      throws TransportException, InterruptedException {
    refuseObstacles(task);
    JobID job = JobID.downgrade(task.reduceId().getJobID());
    JobCredential credential = JobCredential.of(job, task.secret().getEncoded());
    JobPeers peers = new JobPeers(credential.id(), credential.secret());
    OpenedReader reader =
        new TimedOpening(() -> opener.open(wanted, task.reduceId().toString(), peers))
            .await(openTimeout);
    return new ReduceSession(
        new ReduceSession.Parts(
            reader.client(),
            reader::close,
            peers,
            wanted.shared().port()::portFor,
            new JobKeys(task.reduceId().getTaskID().getId()),
            wanted.limits(),
            new HostHealth(NanoClock.system(), wanted.restMinimum(), wanted.restMaximum()),
            counters));
  }

  private static void refuseObstacles(Task task) throws TransportException {
    boolean tls =
        task.conf()
            .getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    if (tls) {
      throw new TransportException(
          TransportException.Kind.CONFIG,
          MRConfig.SHUFFLE_SSL_ENABLED_KEY + " is on, and RDMA does not encrypt");
    }
    if (task.secret() == null) {
      throw new TransportException(
          TransportException.Kind.CONFIG, "the task has no shuffle secret to prove itself with");
    }
  }
}
