package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterSource;
import io.rdmashuffle.core.adapter.DeviceSpec;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Chooses an adapter of this host, loads its libraries, and starts the transport on it. */
public final class DeviceOpener implements TransportOpener {
  private final DeviceSpec spec;
  private final TransportSettings settings;
  private final EngineSite site;

  /** What the engine knows once it runs; asked when the transport is opened, on its thread. */
  public interface EngineSite {
    /** Of this process, for logs and names of threads, such as {@code executor 3}. */
    String processName();

    /**
     * The address that other processes of the engine reach this one by.
     *
     * @throws UnknownHostException if its name has none
     */
    InetAddress address() throws UnknownHostException;

    /** What the transport serves, and how it finds peers. */
    RdmaTransport.Engine engine();
  }

  public DeviceOpener(DeviceSpec spec, TransportSettings settings, EngineSite site) {
    this.spec = spec;
    this.settings = settings;
    this.site = site;
  }

  @Override
  public OpenedTransport open() throws TransportException {
    long wantedBytes = settings.client().poolBytes() + settings.server().stagingBytes();
    AdapterSource finder =
        new AdapterFinder(spec, Math.min(wantedBytes, settings.memory().bytes()))::find;
    try (CloseStack undo = new CloseStack()) {
      AdapterFinder.Found found = finder.find(site::address, undo);
      RdmaTransport transport =
          undo.push(
              RdmaTransport.open(
                  new RdmaTransport.Site(
                      found.provider(), found.address(), site.processName(), NanoClock.system()),
                  site.engine(),
                  settings));
      return new DeviceTransport(transport, undo.handOver());
    }
  }
}
