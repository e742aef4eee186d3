package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterHost;
import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.core.adapter.AdapterSetup;
import io.rdmashuffle.core.adapter.AdapterSource;
import io.rdmashuffle.core.adapter.AdapterState;
import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.client.Discovery;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
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

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

  private final Adapters adapters;

  /** The adapter of a task. */
  interface Adapters {
    /**
     * @param processName for logs and names of threads
     * @param discovery lent; outlives the transport
     */
    AdapterLifecycle<ReadingTransport> of(
        ReduceSettings settings, String processName, Discovery discovery);
  }

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
    return new ReduceGate(
        (settings, processName, discovery) ->
            ofThisHost(
                new AdapterFinder(settings.shared().device())::find,
                settings,
                processName,
                discovery));
  }

  static AdapterLifecycle<ReadingTransport> ofThisHost(
      AdapterSource adapters, ReduceSettings settings, String processName, Discovery discovery) {
    AdapterRules rules =
        AdapterRules.forTask(
            "this task", "Hadoop's own shuffle is used", OPEN_TIMEOUT, CLOSE_TIMEOUT);
    return new AdapterSetup(adapters, new Host(processName), settings.shared().transport())
        .forReader(rules, discovery);
  }

  private record Host(String processName) implements AdapterHost {
    @Override
    public InetAddress address() throws UnknownHostException {
      return InetAddress.getLocalHost();
    }
  }

  ReduceGate(Adapters adapters) {
    this.adapters = adapters;
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
      wanted = ReduceSettings.from(task.conf());
    } catch (ConfigException e) {
      return without(counters, e.getMessage());
    }
    if (wanted.isOff()) {
      LOG.info("RDMA shuffle is switched off in this job's settings");
      counters.taskWithoutRdma();
      return Optional.empty();
    }
    Optional<String> obstacle = obstacle(task);
    return obstacle.isPresent() ? without(counters, obstacle.get()) : open(task, wanted, counters);
  }

  private static Optional<ReduceSession> without(ShuffleCounters counters, String why) {
    LOG.warn("no RDMA in this task, Hadoop's own shuffle is used: {}", why);
    counters.taskWithoutRdma();
    return Optional.empty();
  }

  private Optional<ReduceSession> open(Task task, ReduceSettings wanted, ShuffleCounters counters)
      throws InterruptedException {
    JobID job = JobID.downgrade(task.reduceId().getJobID());
    JobCredential credential = JobCredential.of(job, task.secret().getEncoded());
    JobPeers peers = new JobPeers(credential.id(), credential.secret());
    AdapterLifecycle<ReadingTransport> adapter =
        adapters.of(wanted, task.reduceId().toString(), peers);
    try {
      if (adapter.open() instanceof AdapterState.Open<ReadingTransport> open) {
        return Optional.of(
            new ReduceSession(
                new ReduceSession.Parts(
                    open.transport().client(),
                    adapter::close,
                    peers,
                    wanted.shared().port()::portFor,
                    new JobKeys(task.reduceId().getTaskID().getId()),
                    wanted.limits(),
                    new HostHealth(NanoClock.system(), wanted.restMinimum(), wanted.restMaximum()),
                    counters)));
      }
    } catch (InterruptedException e) {
      adapter.abandon();
      throw e;
    }
    adapter.abandon(); // which has said why; what opens later is closed again
    counters.taskWithoutRdma();
    return Optional.empty();
  }

  private static Optional<String> obstacle(Task task) {
    boolean tls =
        task.conf()
            .getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    if (tls) {
      return Optional.of(MRConfig.SHUFFLE_SSL_ENABLED_KEY + " is on, and RDMA does not encrypt");
    }
    return task.secret() == null
        ? Optional.of("the task has no shuffle secret to prove itself with")
        : Optional.empty();
  }
}
