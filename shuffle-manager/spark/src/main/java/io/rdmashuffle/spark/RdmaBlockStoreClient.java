package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.Availability;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.PeerTransport;
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
      fetchSplit(request, open.transport());
    }
  }

  /** What is thrown before anything was begun leaves all of it to the engine. */
  private void fetchSplit(BlockRequest request, PeerTransport transport) {
    Split split;
    try {
      split = new Split(request, transport.client());
    } catch (OutOfMemoryError e) {
      EngineFetch.outlastShortage(request, services);
      return;
    }
    split.begin();
  }

  private void fetchFromEngine(BlockRequest request, FallbackReason reason) {
    new EngineFetch(request, reason, services).start();
  }

  /** A request in two parts, with all that it takes to begin both. */
  private final class Split {
    private final BlockClient client;
    private final Peer peer;
    private final List<BlockKey> keys;
    private final RdmaFetch byRdma;
    private final List<EngineFetch> others = new ArrayList<>();

    Split(BlockRequest request, BlockClient client) {
      this.client = client;
      peer = new Peer(request.executorId(), request.host(), request.port());
      keys = new ArrayList<>(request.ids().length);
      List<String> rdmaIds = new ArrayList<>(request.ids().length);
      Map<FallbackReason, List<String>> otherIds = new EnumMap<>(FallbackReason.class);
      for (String id : request.ids()) {
        Optional<BlockKey> key = BlockNames.parse(id);
        if (key.isEmpty()) {
          otherIds.computeIfAbsent(FallbackReason.NOT_SUPPORTED, r -> new ArrayList<>()).add(id);
        } else if (delivered.contains(id)) {
          otherIds.computeIfAbsent(FallbackReason.CORRUPT_RETRY, r -> new ArrayList<>()).add(id);
        } else {
          rdmaIds.add(id);
          keys.add(key.get());
        }
      }
      byRdma = new RdmaFetch(request.only(rdmaIds.toArray(String[]::new)), services, delivered);
      otherIds.forEach(
          (reason, ids) ->
              others.add(
                  new EngineFetch(request.only(ids.toArray(String[]::new)), reason, services)));
    }

    void begin() {
      if (!keys.isEmpty()) {
        beginByRdma();
      }
      others.forEach(EngineFetch::start);
    }

    private void beginByRdma() {
      try {
        client.fetch(peer, keys, byRdma);
      } catch (RuntimeException | Error e) { // nothing of it was begun
        byRdma.failAll(e);
      }
    }
  }
}
