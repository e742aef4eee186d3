package io.rdmashuffle.core.adapter;

import io.rdmashuffle.core.adapter.AdapterLifecycle.Opener;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.ReaderTransport;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.server.BlockCatalog;
import java.util.function.Consumer;

/**
 * What the adapter of a process is opened with: for whichever of the three purposes.
 *
 * @param adapters finds it
 * @param host the process
 * @param settings of the transport
 * @param gate where threads come from, and what goes to another passes
 */
public record AdapterSetup(
    AdapterSource adapters, AdapterHost host, TransportSettings settings, Gate gate) {
  public AdapterSetup(AdapterSource adapters, AdapterHost host, TransportSettings settings) {
    this(adapters, host, settings, Gate.OPEN);
  }

  /** What the engine provides; asked each time the adapter is opened. */
  @FunctionalInterface
  public interface EngineSource {
    /**
     * @throws TransportException if it cannot be had now: the adapter is not opened then
     */
    RdmaTransport.Engine engine() throws TransportException;
  }

  /** For a process that serves blocks and fetches those of others. */
  public AdapterLifecycle<PeerTransport> forPeer(AdapterRules rules, EngineSource engine) {
    return life(rules, () -> RdmaTransport.open(site(), engine.engine(), settings));
  }

  /** For a process that fetches blocks. */
  public AdapterLifecycle<ReadingTransport> forReader(AdapterRules rules, Discovery discovery) {
    return life(rules, () -> ReaderTransport.open(site(), discovery, settings));
  }

  /**
   * For a process that serves blocks.
   *
   * @param port where readers connect to
   * @param whenOpen told on the life cycle's thread each time readers may connect
   */
  public AdapterLifecycle<OwnerTransport> forOwner(
      AdapterRules rules, BlockCatalog catalog, int port, Consumer<OwnerTransport> whenOpen) {
    return life(
        rules,
        new Opener<>() {
          @Override
          public OwnerTransport open() throws TransportException {
            return OwnerTransport.open(site(), catalog, port, settings);
          }

          @Override
          public void onOpen(OwnerTransport transport) {
            whenOpen.accept(transport);
          }
        });
  }

  private <T extends Transport> AdapterLifecycle<T> life(AdapterRules rules, Opener<T> opener) {
    return new AdapterLifecycle<>(rules, opener, NanoClock.system(), gate);
  }

  private Transport.Site site() throws TransportException {
    String name = host.processName();
    AdapterFinder.Found found = adapters.find(host::address);
    return new Transport.Site(found.provider(), found.address(), name, NanoClock.system(), gate);
  }
}
