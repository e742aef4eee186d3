package io.rdmashuffle.benchmarks.mapreduce;

import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;

/**
 * A YARN cluster whose NodeManagers run {@link RdmaShuffleHandler}, in this process; tasks are
 * processes of their own, with this one's class path.
 *
 * <p>One thread, but for {@link #close}. Whoever starts it closes it. Starting takes ten to twenty
 * seconds.
 */
public final class MiniCluster implements AutoCloseable {
  private static final String HANDLER_KEY =
      YarnConfiguration.NM_AUX_SERVICES + ".mapreduce_shuffle.class";
  private static final int NODE_MB = 4096;
  private static final int SMALLEST_CONTAINER_MB = 128;

  private final MiniDFSCluster hdfs; // null: jobs use the local file system
  private final MiniMRYarnCluster yarn;
  private final Path folder;
  private final int nodeManagers;
  private boolean closed; // guarded by this

  /**
   * What to start.
   *
   * @param folder where everything is written; must be empty or missing
   * @param nodeManagers at least one
   * @param withHdfs whether jobs read and write HDFS, with one data node
   * @param settings of the NodeManagers and of jobs
   */
  public record Spec(
      Path folder, int nodeManagers, boolean withHdfs, Map<String, String> settings) {}

  private MiniCluster(Spec spec, MiniDFSCluster hdfs, MiniMRYarnCluster yarn) {
    this.folder = spec.folder();
    this.nodeManagers = spec.nodeManagers();
    this.hdfs = hdfs;
    this.yarn = yarn;
  }

  /** If this throws, nothing runs. */
  public static MiniCluster start(Spec spec) throws IOException {
    Files.createDirectories(spec.folder());
    // Where Hadoop's own classes for tests write; they ask when they are loaded.
    System.setProperty("test.build.data", spec.folder().resolve("data").toString());
    System.setProperty("test.build.dir", spec.folder().resolve("data").toString());
    MiniMRYarnCluster yarn = new MiniMRYarnCluster("cluster", spec.nodeManagers());
    MiniCluster cluster = new MiniCluster(spec, spec.withHdfs() ? startHdfs(spec) : null, yarn);
    try {
      yarn.init(cluster.configuration(spec));
      yarn.start();
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private static MiniDFSCluster startHdfs(Spec spec) throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, spec.folder().resolve("hdfs").toString());
    return new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
  }

  private Configuration configuration(Spec spec) throws IOException {
    Configuration conf = new WithHandler();
    if (hdfs != null) {
      conf.set(
          CommonConfigurationKeysPublic.FS_DEFAULT_NAME_KEY,
          hdfs.getFileSystem().getUri().toString());
      conf.set("yarn.app.mapreduce.am.staging-dir", "/staging");
    } else {
      conf.set("yarn.app.mapreduce.am.staging-dir", folder.resolve("staging").toString());
    }
    conf.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", NODE_MB);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, SMALLEST_CONTAINER_MB);
    // Full disks of developers' machines are none of the cluster's business.
    conf.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 99f);
    spec.settings().forEach(conf::set);
    return conf;
  }

  /** MiniMRYarnCluster sets Hadoop's own handler just before it starts the NodeManagers. */
  private static final class WithHandler extends YarnConfiguration {
    @Override
    public void setClass(String name, Class<?> type, Class<?> parent) {
      super.setClass(name, name.equals(HANDLER_KEY) ? RdmaShuffleHandler.class : type, parent);
    }
  }

  /** A copy, for jobs on this cluster. */
  public Configuration conf() {
    return new Configuration(yarn.getConfig());
  }

  public int nodeManagers() {
    return nodeManagers;
  }

  /** From 0. */
  public NodeManager nodeManager(int index) {
    return yarn.getNodeManager(index);
  }

  /** Where everything is written. */
  public Path folder() {
    return folder;
  }

  /** Idempotent. Any thread: a shutdown hook may come while another closes it, and has to wait. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    yarn.stop();
    if (hdfs != null) {
      hdfs.shutdown(true);
    }
  }
}
