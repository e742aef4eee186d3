package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** Spark's side of a fetch: retains what it is given, and remembers every callback. */
final class RecordingListener implements BlockFetchingListener {
  final List<String> callbacks = new CopyOnWriteArrayList<>();
  final Map<String, ManagedBuffer> buffers = new ConcurrentHashMap<>();
  private final CountDownLatch expected;
  private final boolean retains;

  /**
   * @param callbacks after which {@link #awaitAll} returns
   */
  RecordingListener(int callbacks) {
    this(callbacks, true);
  }

  /** One whose task is over does not retain. */
  RecordingListener(int callbacks, boolean retains) {
    this.expected = new CountDownLatch(callbacks);
    this.retains = retains;
  }

  @Override
  public void onBlockFetchSuccess(String id, ManagedBuffer data) {
    if (retains) {
      buffers.put(id, data.retain());
    }
    callbacks.add("success " + id + (data instanceof RdmaManagedBuffer ? " by RDMA" : ""));
    expected.countDown();
  }

  @Override
  public void onBlockFetchFailure(String id, Throwable cause) {
    callbacks.add("failure " + id);
    expected.countDown();
  }

  void awaitAll() throws InterruptedException {
    assertThat(expected.await(10, TimeUnit.SECONDS)).as(callbacks.toString()).isTrue();
  }
}
