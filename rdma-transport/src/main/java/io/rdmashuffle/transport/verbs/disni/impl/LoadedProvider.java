package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.MissingLibraryException;
import java.net.InetAddress;

/** One set of verbs libraries. Public for the call by name alone. */
public final class LoadedProvider implements DisniProvider {
  private final Disni disni;
  private final LoadedMemory memory = new LoadedMemory();
  private volatile boolean closed;

  private LoadedProvider(Disni disni) {
    this.disni = disni;
  }

  /** Called by name, once per class loader. */
  public static LoadedProvider open(String cmLibrary, String verbsLibrary)
      throws TransportException {
    Layout.check(NativeExtras.layout());
    String missing = NativeExtras.loadLibraries(cmLibrary, verbsLibrary);
    if (missing != null) {
      throw new MissingLibraryException(missing);
    }
    return new LoadedProvider(Disni.start());
  }

  @Override
  public HostMemory hostMemory() {
    return memory;
  }

  @Override
  public Device open(InetAddress local) throws VerbsException {
    if (closed) {
      throw Failures.closed("the verbs provider");
    }
    return LoadedDevice.open(disni, local);
  }

  @Override
  public int openObjects() {
    return NativeExtras.openObjects() + memory.openMappings() + memory.openFiles();
  }

  @Override
  public void close() {
    closed = true; // the libraries stay loaded: what is open still needs them
  }
}
