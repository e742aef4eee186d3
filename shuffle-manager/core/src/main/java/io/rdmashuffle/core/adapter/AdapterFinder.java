package io.rdmashuffle.core.adapter;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Selection;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Chooses an adapter of this host and loads the libraries that drive it. Any thread; blocks. */
public final class AdapterFinder {
  private final DeviceSpec spec;

  /** The address that other processes of the engine reach this one by. */
  @FunctionalInterface
  public interface EngineAddress {
    /**
     * @throws UnknownHostException if its name has none
     */
    InetAddress find() throws UnknownHostException;
  }

  /**
   * An adapter that can be opened.
   *
   * @param provider the libraries; the receiver closes them
   * @param address of the adapter
   */
  public record Found(VerbsProvider provider, InetAddress address) {}

  public AdapterFinder(DeviceSpec spec) {
    this.spec = spec;
  }

  /**
   * Finds the adapter that the setting names, or the best one.
   *
   * @param engineAddress decides between adapters that are equally good
   * @throws TransportException if no device is usable; the message says why and what to do
   */
  public Found find(EngineAddress engineAddress) throws TransportException {
    Selection.Selected selected = select(engineAddress);
    VerbsProvider provider =
        selected.provider() == Selection.Provider.SOFT
            ? DisniProviders.soft()
            : DisniProviders.system();
    return new Found(provider, selected.address());
  }

  private Selection.Selected select(EngineAddress engineAddress) throws TransportException {
    Selection selection =
        new DeviceSelection(HostPaths.system(), NetdevAddresses.system())
            .choose(spec.request(ask(engineAddress)));
    if (selection instanceof Selection.Selected selected) {
      return selected;
    }
    throw new TransportException(Kind.CONFIG, ((Selection.NotUsable) selection).reason());
  }

  private InetAddress ask(EngineAddress engineAddress) throws TransportException {
    try {
      return engineAddress.find();
    } catch (UnknownHostException e) {
      if (spec.network().isSet()) {
        return InetAddress.getLoopbackAddress(); // the network says which address to take
      }
      throw new TransportException(Kind.CONFIG, "finding this process's own address", e);
    }
  }
}
