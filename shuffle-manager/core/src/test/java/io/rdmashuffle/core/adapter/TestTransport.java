package io.rdmashuffle.core.adapter;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.Transport;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

/** A transport on no adapter. */
final class TestTransport implements Transport {
  final CompletableFuture<String> lost = new CompletableFuture<>();
  final CountDownLatch closed = new CountDownLatch(1);
  Error onClose; // null: closing works

  @Override
  public Counters counters() {
    return new Counters();
  }

  @Override
  public Map<String, Long> levels() {
    return Map.of();
  }

  @Override
  public String describe() {
    return "test0";
  }

  @Override
  public CompletionStage<String> lost() {
    return lost;
  }

  @Override
  public void close() {
    closed.countDown();
    if (onClose != null) {
      throw onClose;
    }
  }
}
