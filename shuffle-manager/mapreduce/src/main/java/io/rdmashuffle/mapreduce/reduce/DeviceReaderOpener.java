package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterSource;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.ReaderTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import java.net.InetAddress;
import java.util.function.Function;

/** Chooses an adapter of this host, loads its libraries, and starts a reader on it. */
final class DeviceReaderOpener implements ReaderOpener {
  private final Function<ReduceSettings, AdapterSource> adapters;

  DeviceReaderOpener() {
    this(DeviceReaderOpener::adaptersOfThisHost);
  }

  /**
   * @param adapters for a task with these settings
   */
  DeviceReaderOpener(Function<ReduceSettings, AdapterSource> adapters) {
    this.adapters = adapters;
  }

  private static AdapterSource adaptersOfThisHost(ReduceSettings settings) {
    TransportSettings transport = settings.shared().transport();
    long wantedBytes = Math.min(transport.client().poolBytes(), transport.memory().bytes());
    return new AdapterFinder(settings.shared().device(), wantedBytes)::find;
  }

  @Override
  public OpenedReader open(ReduceSettings settings, String processName, Discovery discovery)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      AdapterFinder.Found found = adapters.apply(settings).find(InetAddress::getLocalHost, undo);
      ReaderTransport reader =
          undo.push(
              ReaderTransport.open(
                  new RdmaTransport.Site(
                      found.provider(), found.address(), processName, NanoClock.system()),
                  discovery,
                  settings.shared().transport()));
      DeviceReader opened = new DeviceReader(reader, undo.handOver());
      reader.lost().thenAccept(why -> closeInBackground(opened));
      return opened;
    }
  }

  /** The kernel waits for it; the task may go on for long, by HTTP. */
  private static void closeInBackground(DeviceReader reader) {
    Thread thread = new Thread(reader::close, "rdma-shuffle-close");
    thread.setDaemon(true);
    thread.start();
  }

  /** The transport, with the libraries it came through. */
  private static final class DeviceReader implements OpenedReader {
    private final ReaderTransport transport;
    private final CloseStack parts;

    DeviceReader(ReaderTransport transport, CloseStack parts) {
      this.transport = transport;
      this.parts = parts;
    }

    @Override
    public BlockClient client() {
      return transport.client();
    }

    @Override
    public synchronized void close() { // once per task, and parts are closed by one thread
      parts.close();
    }
  }
}
