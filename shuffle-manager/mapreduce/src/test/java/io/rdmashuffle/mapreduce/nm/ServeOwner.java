package io.rdmashuffle.mapreduce.nm;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.ShuffleHandler;

/** The NodeManager's part of {@link ServeBenchmark}. */
final class ServeOwner {
  private static final String NODE = "mapreduce.shuffle.rdma.nodemanager.";

  private ServeOwner() {}

  /**
   * @param args way, local directory, RDMA port
   */
  public static void main(String[] args) throws Exception {
    ServeBenchmark.Way way = ServeBenchmark.Way.valueOf(args[0]);
    RdmaShuffleHandler handler = new RdmaShuffleHandler();
    handler.init(conf(way, Path.of(args[1]), args[2]));
    handler.start();
    try {
      handler.initializeApplication(Announcement.of(MapOutputFiles.job(1)));
      if (way != ServeBenchmark.Way.HTTP) {
        Waiting.until(() -> handler.transport() != null && handler.transport().tenants() == 1);
      }
      System.out.println("READY " + ShuffleHandler.deserializeMetaData(handler.getMetaData()));
      while (System.in.read() >= 0) {
        // until the parent closes it
      }
    } finally {
      handler.stop(); // or its threads go on
    }
  }

  private static Configuration conf(ServeBenchmark.Way way, Path folder, String rdmaPort) {
    Configuration conf = new Configuration();
    new MapOutputFiles(folder).conf().forEach(e -> conf.set(e.getKey(), e.getValue()));
    conf.setInt("mapreduce.shuffle.port", 0);
    conf.set("mapreduce.shuffle.rdma.port", rdmaPort);
    conf.set(NODE + "mode", way == ServeBenchmark.Way.HTTP ? "off" : "auto");
    conf.set(NODE + "device", "soft");
    conf.set(NODE + "bind.address", "127.0.0.0/8");
    conf.set(NODE + "memory.registered.max", "4g");
    // A part of a file is not worth a window before that much of it was asked for.
    conf.set(NODE + "staging.size", "64m");
    conf.set(NODE + "staging.below", way == ServeBenchmark.Way.STAGING ? "16m" : "0");
    return conf;
  }
}
