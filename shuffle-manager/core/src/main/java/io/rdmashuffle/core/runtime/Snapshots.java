package io.rdmashuffle.core.runtime;

import io.rdmashuffle.core.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import java.util.Map;
import java.util.TreeMap;

/** Gathers a snapshot from what counts. */
record Snapshots(Availability state, EngineCounters engine, MapOutputCatalog catalog) {

  RuntimeSnapshot take() {
    Map<String, Long> counters = new TreeMap<>();
    counters.put("blocks.engine", engine.totalBlocks());
    counters.put("bytes.engine", engine.totalBytes());
    counters.put("blocks.failed", engine.failedBlocks());
    Map<String, Long> levels = new TreeMap<>();
    levels.put("outputs.catalogued", (long) catalog.outputs());
    if (state instanceof Availability.Open open) {
      Counters transport = open.transport().counters();
      for (Counter counter : Counter.values()) {
        counters.put(counter.label(), transport.value(counter));
      }
      levels.putAll(open.transport().levels());
      return new RuntimeSnapshot(
          open.transport().device(),
          "",
          counters,
          engine.blocksByReason(),
          levels,
          transport.readLatency().quantileNs(0.5),
          transport.readLatency().quantileNs(0.99));
    }
    String absence = ((Availability.Absent) state).text();
    return new RuntimeSnapshot("", absence, counters, engine.blocksByReason(), levels, 0, 0);
  }
}
