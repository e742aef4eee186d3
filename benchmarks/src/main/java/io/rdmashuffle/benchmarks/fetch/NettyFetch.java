package io.rdmashuffle.benchmarks.fetch;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.network.BlockDataManager;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.netty.NettyBlockTransferService;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.reflect.ClassTag;

/** Spark's own block transfer, configured as an executor with two cores has it. */
final class NettyFetch implements FetchTransport, FetchTransport.Owner {
  private static final int CORES = 2;
  private final NettyBlockTransferService service;
  private final String peerHost;
  private final int peerPort;

  private NettyFetch(NettyBlockTransferService service, String peerHost, int peerPort) {
    this.service = service;
    this.peerHost = peerHost;
    this.peerPort = peerPort;
  }

  /**
   * @param ioMode spark.shuffle.io.mode: AUTO (epoll and sendfile on Linux) or NIO
   */
  static NettyFetch owner(Layout layout, String ioMode) {
    return start(layout, ioMode, "", 0);
  }

  /**
   * @param endpoint of the owner
   */
  static NettyFetch reader(Layout layout, String ioMode, String endpoint) {
    return start(layout, ioMode, "127.0.0.1", Integer.parseInt(endpoint));
  }

  private static NettyFetch start(Layout layout, String ioMode, String peerHost, int peerPort) {
    SparkConf conf =
        new SparkConf(false).set("spark.app.id", "bench").set("spark.shuffle.io.mode", ioMode);
    NettyBlockTransferService service =
        new NettyBlockTransferService(
            conf,
            new SecurityManager(conf, Option.empty(), null),
            new SerializerManager(new JavaSerializer(conf), conf),
            "127.0.0.1",
            "127.0.0.1",
            0,
            CORES,
            null);
    service.init(new Files(layout, conf));
    return new NettyFetch(service, peerHost, peerPort);
  }

  @Override
  public String endpoint() {
    return String.valueOf(service.port());
  }

  @Override
  public void fetch(int[] maps, int[] partitions, boolean digest, LongConsumer onBlock) {
    String[] ids = new String[maps.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = "shuffle_0_" + maps[i] + "_" + partitions[i];
    }
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String id, ManagedBuffer data) {
            onBlock.accept(digest ? digestOf(data) : 0);
          }

          @Override
          public void onBlockFetchFailure(String id, Throwable failure) {
            onBlock.accept(-1);
          }
        };
    service.fetchBlocks(peerHost, peerPort, "owner", ids, listener, null);
  }

  private static long digestOf(ManagedBuffer data) {
    try (InputStream in = data.createInputStream()) {
      return digestOf(in);
    } catch (IOException e) {
      return -1;
    }
  }

  static long digestOf(InputStream in) throws IOException {
    CRC32C crc = new CRC32C();
    byte[] buffer = new byte[64 << 10];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      crc.update(buffer, 0, n);
    }
    return crc.getValue();
  }

  @Override
  public void close() {
    service.close();
  }

  /** Serves file segments, as IndexShuffleBlockResolver does after it read the index. */
  private static final class Files implements BlockDataManager {
    private final Layout layout;
    private final TransportConf conf;

    Files(Layout layout, SparkConf conf) {
      this.layout = layout;
      this.conf =
          SparkTransportConf.fromSparkConf(conf, "shuffle", CORES, Option.empty(), Option.empty());
    }

    @Override
    public ManagedBuffer getLocalBlockData(BlockId id) {
      ShuffleBlockId block = (ShuffleBlockId) id;
      return new FileSegmentManagedBuffer(
          conf,
          layout.file((int) block.mapId()).toFile(),
          (long) block.reduceId() * layout.blockBytes(),
          layout.blockBytes());
    }

    @Override
    public String[] getLocalDiskDirs() {
      return new String[] {layout.folder().toString()};
    }

    @Override
    public Cause diagnoseShuffleBlockCorruption(BlockId id, long checksum, String algorithm) {
      throw new UnsupportedOperationException("no checksums here");
    }

    @Override
    public ManagedBuffer getHostLocalShuffleData(BlockId id, String[] dirs) {
      throw new UnsupportedOperationException("remote reads only");
    }

    @Override
    public boolean putBlockData(
        BlockId id, ManagedBuffer data, StorageLevel level, ClassTag<?> tag) {
      throw new UnsupportedOperationException("reads only");
    }

    @Override
    public StreamCallbackWithID putBlockDataAsStream(
        BlockId id, StorageLevel level, ClassTag<?> tag) {
      throw new UnsupportedOperationException("reads only");
    }

    @Override
    public void releaseLock(BlockId id, Option<TaskContext> context) {
      // nothing is locked
    }
  }
}
