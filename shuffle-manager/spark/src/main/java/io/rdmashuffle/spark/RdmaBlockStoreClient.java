package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.Availability;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Fetches the shuffle blocks of one reader: by RDMA what RDMA can carry, everything else through
 * the client that Spark would have used. A failure of RDMA is never reported to Spark.
 *
 * <p><b>Threads:</b> {@link #fetchBlocks} is called by the reader's task, one call at a time;
 * callbacks come from others.
 *
 * <p>A block that Spark asks for again after RDMA has delivered it was found corrupt; the second
 * time it is fetched as Spark always did. Hence one client per reader.
 */
final class RdmaBlockStoreClient extends DelegatingBlockStoreClient {
  private static final Set<String> NOT_EXECUTORS =
      Set.of("fallback", "shuffle-push-merger"); // FallbackStorage, push-merged chunks

  private final FetchServices services;
  private final Set<String> delivered = ConcurrentHashMap.newKeySet();

  RdmaBlockStoreClient(FetchServices services) {
    super(services.engine());
    this.services = services;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] ids,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    BlockRequest request = new BlockRequest(host, port, executorId, ids, listener, files);
    Availability state = services.runtime().state();
    if (state instanceof Availability.Absent absent) {
      fetchFromEngine(request, absent.reason());
    } else if (NOT_EXECUTORS.contains(executorId)) {
      fetchFromEngine(request, FallbackReason.NOT_SUPPORTED);
    } else if (files != null) {
      fetchFromEngine(request, FallbackReason.TO_DISK);
    } else if (state instanceof Availability.Open open) {
      fetchSplit(request, open.transport().client());
    }
  }

  private void fetchSplit(BlockRequest request, BlockClient client) {
    List<String> rdmaIds = new ArrayList<>(request.ids().length);
    List<BlockKey> keys = new ArrayList<>(request.ids().length);
    Map<FallbackReason, List<String>> others = new EnumMap<>(FallbackReason.class);
    for (String id : request.ids()) {
      Optional<BlockKey> key = BlockNames.parse(id);
      if (key.isEmpty()) {
        others.computeIfAbsent(FallbackReason.NOT_SUPPORTED, r -> new ArrayList<>()).add(id);
      } else if (delivered.contains(id)) {
        others.computeIfAbsent(FallbackReason.CORRUPT_RETRY, r -> new ArrayList<>()).add(id);
      } else {
        rdmaIds.add(id);
        keys.add(key.get());
      }
    }
    if (!keys.isEmpty()) {
      fetchByRdma(request.only(rdmaIds.toArray(String[]::new)), keys, client);
    }
    others.forEach(
        (reason, ids) -> fetchFromEngine(request.only(ids.toArray(String[]::new)), reason));
  }

  private void fetchByRdma(BlockRequest request, List<BlockKey> keys, BlockClient client) {
    RdmaFetch fetch = new RdmaFetch(request, services, delivered);
    try {
      client.fetch(new Peer(request.executorId(), request.host(), request.port()), keys, fetch);
    } catch (RuntimeException | Error e) { // nothing of it was begun
      fetch.failAll(e);
    }
  }

  private void fetchFromEngine(BlockRequest request, FallbackReason reason) {
    new EngineFetch(request, reason, services).start();
  }
}
