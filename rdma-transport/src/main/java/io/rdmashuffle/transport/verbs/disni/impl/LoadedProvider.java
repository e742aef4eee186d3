package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.MissingLibraryException;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** One set of verbs libraries. Public for the call by name alone. */
public final class LoadedProvider implements DisniProvider {
  private final Disni disni;
  private final LoadedMemory memory = new LoadedMemory();
  private final AtomicBoolean closed = new AtomicBoolean();

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
    return new LoadedProvider(Disni.start(new LoadedLibraries()));
  }

  @Override
  public HostMemory hostMemory() {
    return memory;
  }

  @Override
  public Device open(InetAddress local) throws VerbsException {
    if (closed.get()) {
      throw Failures.closed("the verbs provider");
    }
    return disni.libraries().holding(() -> LoadedDevice.open(disni, local));
  }

  @Override
  public int openObjects() {
    return NativeExtras.openObjects() + memory.openMappings() + memory.openFiles();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      disni.libraries().release(); // open devices still hold them
    }
  }
}
