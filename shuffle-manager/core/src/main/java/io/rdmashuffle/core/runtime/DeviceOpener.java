package io.rdmashuffle.core.runtime;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Selection;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses an adapter of this host, loads its libraries, and starts the transport on it. */
public final class DeviceOpener implements TransportOpener {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOpener.class);

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
    Selection.Selected selected = select();
    selected.warning().ifPresent(LOG::warn);
    try (CloseStack undo = new CloseStack()) {
      VerbsProvider provider =
          undo.push(
              selected.provider() == Selection.Provider.SOFT
                  ? DisniProviders.soft()
                  : DisniProviders.system());
      RdmaTransport transport =
          undo.push(
              RdmaTransport.open(
                  new RdmaTransport.Site(
                      provider, selected.address(), site.processName(), NanoClock.system()),
                  site.engine(),
                  settings));
      return new DeviceTransport(transport, undo.handOver());
    }
  }

  private Selection.Selected select() throws TransportException {
    Optional<InetAddress> bound = spec.network().isSet() ? Optional.of(bound()) : Optional.empty();
    InetAddress preferred = bound.isPresent() ? bound.get() : engineAddress();
    String setting =
        spec.isAuto() && bound.isPresent() ? bound.get().getHostAddress() : spec.device();
    long wantedBytes = settings.client().poolBytes() + settings.server().stagingBytes();
    Selection selection =
        new DeviceSelection(HostPaths.system(), NetdevAddresses.system())
            .choose(
                new DeviceSelection.Request(
                    setting, preferred, Math.min(wantedBytes, settings.memory().bytes())));
    if (selection instanceof Selection.Selected selected) {
      return selected;
    }
    throw new TransportException(Kind.CONFIG, ((Selection.NotUsable) selection).reason());
  }

  private InetAddress bound() throws TransportException {
    List<InetAddress> own = ownAddresses();
    return spec.network()
        .pick(own)
        .orElseThrow(
            () ->
                new TransportException(
                    Kind.CONFIG,
                    spec.networkKey()
                        + "="
                        + spec.network()
                        + " holds none of this host's addresses "
                        + own.stream().map(InetAddress::getHostAddress).toList()));
  }

  private static List<InetAddress> ownAddresses() throws TransportException {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(Inet4Address.class::isInstance)
          .toList();
    } catch (SocketException e) {
      throw new TransportException(Kind.CONFIG, "listing this host's addresses", e);
    }
  }

  private InetAddress engineAddress() throws TransportException {
    try {
      return site.address();
    } catch (UnknownHostException e) {
      throw new TransportException(Kind.CONFIG, "finding this process's own address", e);
    }
  }
}
