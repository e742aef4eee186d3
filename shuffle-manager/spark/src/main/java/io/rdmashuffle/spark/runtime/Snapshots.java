package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.PeerTransport;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Gathers a snapshot from what counts. */
record Snapshots(
    Availability state,
    Optional<PeerTransport> opened,
    EngineCounters engine,
    MapOutputCatalog catalog) {

  RuntimeSnapshot take() {
    Map<String, Long> counters = new TreeMap<>();
    counters.put("blocks.engine", engine.totalBlocks());
    counters.put("bytes.engine", engine.totalBytes());
    counters.put("blocks.failed", engine.failedBlocks());
    Map<String, Long> levels = new TreeMap<>();
    levels.put("outputs.catalogued", (long) catalog.outputs());
    long p50Ns = 0;
    long p99Ns = 0;
    if (opened.isPresent()) {
      Counters transport = opened.get().counters();
      for (Counter counter : Counter.values()) {
        counters.put(counter.label(), transport.value(counter));
      }
      levels.putAll(opened.get().levels());
      p50Ns = transport.readLatency().quantileNs(0.5);
      p99Ns = transport.readLatency().quantileNs(0.99);
    }
    return new RuntimeSnapshot(
        state instanceof Availability.Open open ? open.transport().describe() : "",
        state instanceof Availability.Absent absent ? absent.text() : "",
        counters,
        engine.blocksByReason(),
        levels,
        p50Ns,
        p99Ns);
  }
}
