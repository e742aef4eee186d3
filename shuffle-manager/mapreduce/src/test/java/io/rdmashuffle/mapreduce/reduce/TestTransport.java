package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.client.BlockClient;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A client of the test's own on no adapter. */
record TestTransport(BlockClient client, Runnable closing) implements ReadingTransport {
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
    return new CompletableFuture<>();
  }

  @Override
  public void close() {
    closing.run();
  }
}
