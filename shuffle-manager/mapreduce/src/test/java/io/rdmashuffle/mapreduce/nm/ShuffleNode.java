package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.OwnerTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import javax.crypto.SecretKey;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * What a NodeManager is to the reducers of one job: the map outputs in its directories, and a
 * shuffle service over them that can be stopped and started again. RDMA is on the software adapter.
 * One thread; whoever starts it stops it.
 */
public final class ShuffleNode {
  private static final String NODE = "mapreduce.shuffle.rdma.nodemanager.";

  private final Supplier<ShuffleHandler> service;
  private final Path recovery;
  private final MapOutputFiles files;
  private final Configuration conf = new Configuration();
  private final Job job;
  private final int httpPort;
  private ShuffleHandler handler; // null while it is down

  private ShuffleNode(Supplier<ShuffleHandler> service, Path folder, Job job) throws IOException {
    this.service = service;
    this.recovery = Files.createDirectories(folder.resolve("recovery"));
    this.files = new MapOutputFiles(Files.createDirectories(folder.resolve("local")));
    this.job = job;
    this.httpPort = FreePort.find();
    files.conf().forEach(entry -> conf.set(entry.getKey(), entry.getValue()));
    conf.setInt("mapreduce.shuffle.port", httpPort);
    conf.setBoolean(YarnConfiguration.NM_RECOVERY_ENABLED, true);
    set("device", "soft");
    set("bind.address", "127.0.0.0/8");
  }

  /** One with this project's service; it is not started. */
  public static ShuffleNode withRdma(Path folder, JobID id, SecretKey secret) throws IOException {
    return new ShuffleNode(RdmaShuffleHandler::new, folder, job(id, secret));
  }

  /** One with Hadoop's own; it is not started. */
  public static ShuffleNode withoutRdma(Path folder, JobID id, SecretKey secret)
      throws IOException {
    return new ShuffleNode(ShuffleHandler::new, folder, job(id, secret));
  }

  private static Job job(JobID id, SecretKey secret) {
    ApplicationId application =
        ApplicationId.newInstance(Long.parseLong(id.getJtIdentifier()), id.getId());
    return new Job(application, MapOutputFiles.USER, secret.getEncoded());
  }

  /** A setting of the NodeManager, without its prefix; for the next start. */
  public void set(String key, String value) {
    conf.set(NODE + key, value);
  }

  /** Writes an output that has one segment. */
  public void write(TaskAttemptID attempt, byte[] segment, long rawBytes) throws IOException {
    files.write(job, attempt, segment, rawBytes);
  }

  /** As completion events name it. */
  public String url() {
    return "http://127.0.0.1:" + httpPort;
  }

  /** Starts its service, which is told of the job as by the job's first container. */
  public void start() throws IOException {
    launch();
    handler.initializeApplication(Announcement.of(job));
    awaitRdma();
  }

  /** Starts it again: what it knows of the job it has kept itself. */
  public void restart() {
    launch();
    awaitRdma();
  }

  private void launch() {
    DefaultMetricsSystem.setMiniClusterMode(true); // several services have sources of one name
    try {
      handler = service.get();
      handler.setAuxiliaryLocalPathHandler(new LocalPaths(conf));
      handler.setRecoveryPath(new org.apache.hadoop.fs.Path(recovery.toString()));
      handler.init(conf);
      handler.start();
    } finally {
      DefaultMetricsSystem.setMiniClusterMode(false);
    }
  }

  private void awaitRdma() {
    if (handler instanceof RdmaShuffleHandler ours) {
      Waiting.until(() -> ours.transport() != null && ours.transport().tenants() == 1);
    }
  }

  /** Waits until no reader is connected to it or has leased anything of it. */
  public void awaitNoReaders() {
    if (handler instanceof RdmaShuffleHandler ours) {
      Waiting.until(() -> level(ours, "connections") == 0 && level(ours, "leases") == 0);
    }
  }

  private static long level(RdmaShuffleHandler ours, String name) {
    return ours.transport().levels().get(name);
  }

  /** Ends its service, and with it every connection; nothing of RDMA may be left. */
  public void stop() {
    if (handler == null) {
      return;
    }
    OwnerTransport transport = handler instanceof RdmaShuffleHandler ours ? ours.transport() : null;
    handler.stop();
    handler = null;
    if (transport != null) {
      assertThat(transport.levels().values()).as("%s", transport.levels()).containsOnly(0L);
    }
  }

  /** Waits until no thread of a service or of a reader is left. */
  public static void awaitNothingRuns() {
    Waiting.untilThreadsAreGone();
  }
}
