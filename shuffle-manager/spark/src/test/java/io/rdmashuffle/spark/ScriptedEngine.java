package io.rdmashuffle.spark;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** The client that Spark would have used: delivers four bytes per id, or fails as told. */
final class ScriptedEngine extends BlockStoreClient {
  record Call(String host, int port, String executorId, List<String> ids, boolean toDisk) {}

  final List<Call> calls = new CopyOnWriteArrayList<>();
  final List<Thread> callers = new CopyOnWriteArrayList<>();
  final Set<String> failing = new HashSet<>();
  RuntimeException thrownAfterFirst;
  byte[] answer = new byte[4];

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] ids,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    calls.add(new Call(host, port, executorId, new ArrayList<>(Arrays.asList(ids)), files != null));
    callers.add(Thread.currentThread());
    for (String id : ids) {
      if (failing.contains(id)) {
        listener.onBlockFetchFailure(id, new java.io.IOException("scripted"));
      } else {
        listener.onBlockFetchSuccess(id, new NioManagedBuffer(ByteBuffer.wrap(answer)));
      }
      if (thrownAfterFirst != null) {
        throw thrownAfterFirst;
      }
    }
  }

  @Override
  public void close() {
    throw new AssertionError("the delegate belongs to Spark");
  }
}
