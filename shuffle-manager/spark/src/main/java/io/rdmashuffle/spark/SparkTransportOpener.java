package io.rdmashuffle.spark;

import io.rdmashuffle.core.catalog.MapOutputCatalog;
import io.rdmashuffle.core.runtime.OpenedTransport;
import io.rdmashuffle.core.runtime.PeerExecutor;
import io.rdmashuffle.core.runtime.TransportOpener;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.Discovery;
import java.util.OptionalInt;

/** Opens the transport with Spark's settings, catalog and discovery. */
record SparkTransportOpener(SparkSettings settings, MapOutputCatalog catalog, PeerExecutor executor)
    implements TransportOpener {

  @Override
  public OpenedTransport open() throws TransportException {
    throw new TransportException(
        TransportException.Kind.CONFIG, "this build brings no device drivers; " + discovery());
  }

  private Discovery discovery() {
    ExecutorPorts ports =
        ExecutorPorts.of(() -> SparkHost.env().blockManager().master(), NanoClock.system());
    return new SparkDiscovery(
        () -> SparkHost.env().blockManager().blockTransferService(),
        peer ->
            settings.externalShuffleService()
                ? ports.portOf(peer.id())
                : OptionalInt.of(peer.port()),
        executor);
  }
}
