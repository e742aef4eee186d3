package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.runtime.AdapterFinder;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.ReaderTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import java.net.InetAddress;

/** Chooses an adapter of this host, loads its libraries, and starts a reader on it. */
final class DeviceReaderOpener implements ReaderOpener {
  @Override
  public OpenedReader open(ReduceSettings settings, String processName, Discovery discovery)
      throws TransportException {
    TransportSettings transport = settings.shared().transport();
    long wantedBytes = Math.min(transport.client().poolBytes(), transport.memory().bytes());
    try (CloseStack undo = new CloseStack()) {
      AdapterFinder.Found found =
          new AdapterFinder(settings.shared().device(), wantedBytes)
              .find(InetAddress::getLocalHost, undo);
      ReaderTransport reader =
          undo.push(
              ReaderTransport.open(
                  new RdmaTransport.Site(
                      found.provider(), found.address(), processName, NanoClock.system()),
                  discovery,
                  transport));
      return new DeviceReader(reader, undo.handOver());
    }
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
