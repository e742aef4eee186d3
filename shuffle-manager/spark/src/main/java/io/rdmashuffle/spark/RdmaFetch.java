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
 * <p><b>Threads:</b> any, one at a time, as the transport promises. Each id goes one of the two
 * ways, once: it counts as settled only after nothing can fail any more for lack of memory, and
 * until then is tried again.
 */
final class RdmaFetch implements BlockClient.FetchListener {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaFetch.class);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final BlockRequest request;
  private final FetchServices services;
  private final Set<String> delivered;
  private final AtomicIntegerArray settled; // those that Spark or its own shuffle has
  private final int[] all; // indices, made while there is memory

  /**
   * @param request ids in the order of the keys that the transport was given
   * @param delivered collects the ids that RDMA has delivered; safe for several threads
   */
  RdmaFetch(BlockRequest request, FetchServices services, Set<String> delivered) {
    this.request = request;
    this.services = services;
    this.delivered = delivered;
    this.settled = new AtomicIntegerArray(request.ids().length);
    this.all = IntStream.range(0, request.ids().length).toArray();
  }

  @Override
  public void onBlock(int index, Block block) {
    if (isSettled(index)) {
      block.close();
      LOG.error("block {} of {} was delivered twice", id(index), request.executorId());
      return;
    }
    // Spark never asks for an empty block and takes one for a failed fetch.
    boolean isEmpty = block.bytes() == 0;
    RdmaManagedBuffer buffer = isEmpty ? null : tryWrap(index, block);
    if (buffer == null) {
      block.close();
      fallBack(index, isEmpty ? FallbackReason.UNKNOWN_BLOCK : FallbackReason.NO_MEMORY);
      return;
    }
    settle(index);
    try {
      request.listener().onBlockFetchSuccess(id(index), buffer);
    } finally {
      buffer.release(); // the listener has retained it, unless its task is over
    }
  }

  /** Returns null for lack of memory. */
  private RdmaManagedBuffer tryWrap(int index, Block block) {
    try {
      RdmaManagedBuffer buffer = new RdmaManagedBuffer(block);
      delivered.add(id(index));
      return buffer;
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  @Override
  public void onFallback(int[] indices, FallbackReason reason) {
    while (!tryFallBack(indices, reason)) {
      LockSupport.parkNanos(PAUSE_NS); // whoever calls waits for these blocks, or has time
    }
  }

  private void fallBack(int index, FallbackReason reason) {
    while (!tryFallBack(index, reason)) {
      LockSupport.parkNanos(PAUSE_NS); // as above
    }
  }

  /** The transport did not even take the request. */
  void failAll(Throwable cause) {
    onFallback(all, FallbackReason.TRANSFER_FAILED);
    LOG.error("fetch from {} by RDMA failed, falling back", request.executorId(), cause);
  }

  private String id(int index) {
    return request.ids()[index];
  }

  private boolean isSettled(int index) {
    return settled.get(index) != 0;
  }

  private void settle(int index) {
    settled.set(index, 1);
  }

  private boolean tryFallBack(int index, FallbackReason reason) {
    try {
      return tryFallBack(new int[] {index}, reason);
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  /**
   * Off this thread: Spark's client connects while its caller waits.
   *
   * @return false for lack of memory; nothing has changed then
   */
  private boolean tryFallBack(int[] indices, FallbackReason reason) {
    try {
      String[] ids =
          Arrays.stream(indices)
              .filter(index -> !isSettled(index))
              .mapToObj(this::id)
              .toArray(String[]::new);
      if (ids.length > 0) {
        services
            .executor()
            .execute(request.executorId(), new EngineFetch(request.only(ids), reason, services));
      }
    } catch (OutOfMemoryError e) {
      return false;
    }
    for (int index : indices) {
      settle(index);
    }
    return true;
  }
}
