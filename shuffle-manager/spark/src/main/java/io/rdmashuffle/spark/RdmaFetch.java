package io.rdmashuffle.spark;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of one request that were asked of the transport. Hands them to Spark as they come, and the
 * rest to Spark's own shuffle.
 *
 * <p><b>Threads:</b> any; nothing here waits. Each id goes one of the two ways, once.
 */
final class RdmaFetch implements BlockClient.FetchListener {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaFetch.class);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final BlockRequest request;
  private final FetchServices services;
  private final Set<String> delivered;
  private final AtomicIntegerArray settled;

  /**
   * @param request ids in the order of the keys that the transport was given
   * @param delivered collects the ids that RDMA has delivered; safe for several threads
   */
  RdmaFetch(BlockRequest request, FetchServices services, Set<String> delivered) {
    this.request = request;
    this.services = services;
    this.delivered = delivered;
    this.settled = new AtomicIntegerArray(request.ids().length);
  }

  @Override
  public void onBlock(int index, Block block) {
    String id = request.ids()[index];
    if (!settle(index)) {
      LOG.error("block {} of {} was delivered twice", id, request.executorId());
      block.close();
    } else if (block.bytes() == 0) {
      // Spark never asks for an empty block and takes one for a failed fetch.
      block.close();
      fetchFromEngine(new String[] {id}, FallbackReason.UNKNOWN_BLOCK);
    } else {
      delivered.add(id);
      RdmaManagedBuffer buffer = new RdmaManagedBuffer(block);
      try {
        request.listener().onBlockFetchSuccess(id, buffer);
      } finally {
        buffer.release(); // the listener has retained it, unless its task is over
      }
    }
  }

  @Override
  public void onFallback(int[] indices, FallbackReason reason) {
    String[] ids =
        Arrays.stream(indices)
            .filter(this::settle)
            .mapToObj(index -> request.ids()[index])
            .toArray(String[]::new);
    if (ids.length > 0) {
      fetchFromEngine(ids, reason);
    }
  }

  /** The transport did not even take the request. */
  void failAll(Throwable cause) {
    LOG.error("fetch from {} by RDMA failed, falling back", request.executorId(), cause);
    onFallback(IntStream.range(0, request.ids().length).toArray(), FallbackReason.TRANSFER_FAILED);
  }

  private boolean settle(int index) {
    return settled.compareAndSet(index, 0, 1);
  }

  /** Off this thread: Spark's client connects while its caller waits. */
  private void fetchFromEngine(String[] ids, FallbackReason reason) {
    while (!tryFetchFromEngine(ids, reason)) {
      LockSupport.parkNanos(PAUSE_NS); // on a delivery thread, which has nothing else to do
    }
  }

  /** Returns false for lack of memory: somebody waits for these blocks, so it is tried again. */
  private boolean tryFetchFromEngine(String[] ids, FallbackReason reason) {
    try {
      services
          .executor()
          .execute(request.executorId(), new EngineFetch(request.only(ids), reason, services));
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }
}
