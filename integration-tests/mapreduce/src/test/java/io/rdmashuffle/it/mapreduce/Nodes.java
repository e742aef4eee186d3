package io.rdmashuffle.it.mapreduce;

import io.rdmashuffle.benchmarks.mapreduce.MiniCluster;
import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.OwnerTransport;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.service.CompositeService;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.AuxServices;

/** What the RDMA of a cluster's NodeManagers holds. */
final class Nodes {
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
