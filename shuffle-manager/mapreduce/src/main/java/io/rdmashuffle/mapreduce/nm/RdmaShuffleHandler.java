package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.OwnerTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shuffle of a NodeManager: Hadoop's own over HTTP, and the same map outputs by RDMA beside it.
 * To be set as {@code yarn.nodemanager.aux-services.mapreduce_shuffle.class}; only the service of
 * that name is given the secrets of jobs.
 *
 * <p>Whatever fails of RDMA leaves HTTP as it is, with one warning and the metric {@code RdmaUp} at
 * 0. Nothing here stops the NodeManager, and none of Hadoop's callbacks waits for an adapter.
 *
 * <p><b>Threads:</b> as Hadoop calls it: life cycle on one thread, callbacks on the dispatcher.
 */
public final class RdmaShuffleHandler extends ShuffleHandler implements NodeMetrics.Status {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleHandler.class);

  private volatile LocalPaths localPaths;
  private volatile NodeServer server; // null where RDMA is off
  private volatile String problem = "it is not started";
  private NodeMetrics metrics;

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    localPaths = new LocalPaths(conf);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    super.serviceStart();
    try {
      startRdma(getConfig());
    } catch (ConfigException e) {
      problem = e.getMessage();
      LOG.warn("Map outputs are served by HTTP only: {}", problem);
    } catch (Throwable e) { // whatever it is, the NodeManager goes on
      problem = e.toString();
      LOG.warn("Map outputs are served by HTTP only: {}", problem, e);
    }
  }

  private void startRdma(Configuration conf) throws IOException {
    metrics = NodeMetrics.register(DefaultMetricsSystem.instance(), this);
    MapReduceSettings settings = MapReduceSettings.ofNodeManager(conf);
    Optional<String> obstacle = obstacle(conf, settings);
    if (obstacle.isPresent()) {
      problem = obstacle.get();
      LOG.info("Map outputs are served by HTTP only: {}", problem);
      return;
    }
    int httpPort = deserializeMetaData(getMetaData());
    server =
        NodeServer.start(
            new NodeSite(conf, httpPort, this::getAuxiliaryLocalPathHandler, recovery()), settings);
  }

  private static Optional<String> obstacle(Configuration conf, MapReduceSettings settings) {
    if (settings.isOff()) {
      return Optional.of("RDMA is switched off");
    }
    if (conf.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT)) {
      return Optional.of(
          MRConfig.SHUFFLE_SSL_ENABLED_KEY
              + " demands encryption, and RDMA would carry the segments in plain text");
    }
    return Optional.empty();
  }

  private Optional<Path> recovery() {
    return Optional.ofNullable(getRecoveryPath()).map(path -> Path.of(path.toUri().getPath()));
  }

  /** Called for every container of a job that brings the shuffle's secret. */
  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    ByteBuffer serviceData = context.getApplicationDataForService();
    ByteBuffer copy = serviceData == null ? null : serviceData.duplicate(); // super consumes it
    super.initializeApplication(context);
    NodeServer running = server;
    if (running == null || copy == null) {
      return;
    }
    try {
      running.add(new Job(context.getApplicationId(), context.getUser(), secretIn(copy)));
    } catch (Throwable e) { // as in serviceStart: this is the dispatcher of all containers' events
      LOG.warn("{} is not served by RDMA, its reducers take HTTP", context.getApplicationId(), e);
    }
  }

  /** As ShuffleHandler's own deserializeServiceData, which not every release lets others call. */
  private static byte[] secretIn(ByteBuffer serviceData) throws IOException {
    DataInputByteBuffer in = new DataInputByteBuffer();
    in.reset(serviceData);
    Token<JobTokenIdentifier> token = new Token<>();
    token.readFields(in);
    return token.getPassword();
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    NodeServer running = server;
    try {
      if (running != null) {
        running.remove(context.getApplicationId());
      }
    } catch (Throwable e) { // as above
      LOG.warn("what was registered for {} is not all gone", context.getApplicationId(), e);
    }
    super.stopApplication(context);
  }

  /**
   * HTTP first: reducers that RDMA then drops find that nobody listens, which Hadoop's fetcher
   * waits out while the NodeManager restarts. A connection that is closed under it, it blames on
   * the maps.
   */
  @Override
  protected void serviceStop() throws Exception {
    try {
      super.serviceStop();
    } finally {
      try {
        stopRdma();
      } catch (Throwable e) {
        LOG.warn("RDMA did not stop as it should", e);
      }
    }
  }

  private void stopRdma() {
    NodeServer running = server;
    server = null;
    problem = "it is stopped";
    if (metrics != null) {
      metrics.close();
    }
    if (running != null) {
      running.close();
    }
  }

  /** The NodeManager's, or one of our own where its wrapper forgot to pass it on. */
  @Override
  public AuxiliaryLocalPathHandler getAuxiliaryLocalPathHandler() {
    AuxiliaryLocalPathHandler given = super.getAuxiliaryLocalPathHandler();
    return given != null ? given : localPaths;
  }

  // ---- for the metrics

  @Override
  public OwnerTransport transport() {
    NodeServer running = server;
    return running == null ? null : running.transport();
  }

  @Override
  public String problem() {
    NodeServer running = server;
    return running == null ? problem : running.problem();
  }

  @Override
  public int jobs() {
    NodeServer running = server;
    return running == null ? 0 : running.jobs();
  }
}
