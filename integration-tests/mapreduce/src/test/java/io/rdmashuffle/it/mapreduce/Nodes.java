package io.rdmashuffle.it.mapreduce;

import io.rdmashuffle.benchmarks.mapreduce.MiniCluster;
import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.OwnerTransport;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.service.CompositeService;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.AuxServices;

/** What the RDMA of a cluster's NodeManagers holds. */
final class Nodes {
  private static final Duration FAULT_LIMIT = Duration.ofSeconds(10);
  private static final int MOST_FAULTS = 200;

  private final List<RdmaShuffleHandler> handlers = new ArrayList<>();

  Nodes(MiniCluster cluster) throws ReflectiveOperationException {
    for (int node = 0; node < cluster.nodeManagers(); node++) {
      CompositeService containers =
          (CompositeService) cluster.nodeManager(node).getNMContext().getContainerManager();
      for (Service service : containers.getServices()) {
        if (service instanceof AuxServices) {
          addHandlers(service);
        }
      }
    }
  }

  /** Hadoop shows the services to its own package only. */
  private void addHandlers(Service services) throws ReflectiveOperationException {
    Method getServices = AuxServices.class.getDeclaredMethod("getServices");
    getServices.setAccessible(true);
    for (Object service : (Collection<?>) getServices.invoke(services)) {
      if (service instanceof RdmaShuffleHandler handler) {
        handlers.add(handler);
      }
    }
  }

  List<RdmaShuffleHandler> handlers() {
    return handlers;
  }

  /**
   * From now on the kernel has taken away the adapter of each. All are in this process, and each
   * has a software adapter of its own: whichever looks first takes a fault.
   */
  void takeAdaptersAway() throws IOException {
    String pid = String.valueOf(ProcessHandle.current().pid());
    Path faults = Path.of(System.getenv("SOFTHCA_FAULTS_FILE").replace("%p", pid));
    Path unfinished = Path.of(faults + ".new");
    for (int i = 0;
        i < MOST_FAULTS && handlers.stream().anyMatch(h -> h.transport() != null);
        i++) {
      Files.writeString(unfinished, "clear;lost\n");
      Files.move(unfinished, faults);
      Await.empty(FAULT_LIMIT, () -> Files.exists(faults) ? Map.of(faults, "not taken") : Map.of());
    }
    Await.empty(
        FAULT_LIMIT,
        () ->
            handlers.stream()
                .filter(h -> h.transport() != null)
                .collect(Collectors.toMap(h -> h, h -> "not lost")));
  }

  /** Sum over all nodes. */
  long total(Counter counter) {
    return handlers.stream().mapToLong(h -> h.transport().counters().value(counter)).sum();
  }

  /** What is registered, connected or leased now and belongs to jobs; empty if nothing is. */
  Map<String, Long> held() {
    Map<String, Long> held = new TreeMap<>();
    for (RdmaShuffleHandler handler : handlers) {
      OwnerTransport transport = handler.transport();
      if (handler.jobs() > 0) {
        held.merge("jobs", (long) handler.jobs(), Long::sum);
      }
      if (transport == null) {
        continue; // its adapter is lost
      }
      transport
          .levels()
          .forEach(
              (level, value) -> {
                if (value > 0 && !level.equals("threads")) {
                  held.merge(level, value, Long::sum);
                }
              });
    }
    return held;
  }
}
