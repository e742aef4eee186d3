package io.rdmashuffle.spark;

import io.rdmashuffle.core.adapter.AdapterHost;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.server.BlockCatalog;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * What the transport needs to know of this Spark process.
 *
 * @param settings of the application
 * @param catalog the map outputs of this process
 * @param executor for discovery
 */
record SparkSite(SparkSettings settings, BlockCatalog catalog, PeerExecutor executor)
    implements AdapterHost {

  @Override
  public String processName() {
    return "executor " + SparkHost.env().executorId();
  }

  @Override
  public InetAddress address() throws UnknownHostException {
    return InetAddress.getByName(SparkHost.env().blockManager().blockManagerId().host());
  }

  /**
   * What the transport serves, and how it finds peers. Begins with the threads that it needs.
   *
   * @throws TransportException if there are no threads now
   */
  RdmaTransport.Engine engine() throws TransportException {
    executor.open();
    return new RdmaTransport.Engine(catalog, discovery());
  }

  private Discovery discovery() {
    ExecutorPorts ports =
        ExecutorPorts.of(() -> SparkHost.env().blockManager().master(), NanoClock.system());
    return new SparkDiscovery(
        () -> SparkHost.env().blockManager().blockTransferService(),
        peer ->
            settings.externalShuffleService()
                ? ports.find(peer.id())
                : new ExecutorPorts.At(peer.port()),
        executor);
  }
}
