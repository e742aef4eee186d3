package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for the adapter's own reports a few times a second, on the CM thread, and passes them on.
 * An adapter that is lost takes all connections with it at once.
 */
final class DeviceWatch {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceWatch.class);
  static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Device device;
  private final ProgressLoop loop;
  private final Consumer<TransportException> lost;
  private final List<DeviceListener> listeners = new CopyOnWriteArrayList<>();
  private AsyncEvent next; // polled, and not yet handed over

  /**
   * @param lost hears, on the progress thread, that the device will not work again
   */
  DeviceWatch(Device device, ProgressLoop loop, Consumer<TransportException> lost) {
    this.device = device;
    this.loop = loop;
    this.lost = lost;
  }

  /** Any thread. */
  void add(DeviceListener listener) {
    listeners.add(listener);
  }

  /** On the CM thread, every {@link #INTERVAL_NS}. */
  void look() {
    try {
      while (next != null || (next = device.pollAsyncEvent()) != null) {
        AsyncEvent event = next;
        loop.execute(() -> deliver(event));
        next = null;
      }
    } catch (VerbsException e) {
      LOG.debug("no events from {}", device.name(), e);
    }
  }

  private void deliver(AsyncEvent event) {
    switch (event.type()) {
      case PORT_ACTIVE, PORT_DOWN ->
          LOG.info("{} reports {} ({})", device.name(), event.type(), event.code());
      default -> LOG.debug("{} reports {} ({})", device.name(), event.type(), event.code());
    }
    if (event.isFinal()) {
      lost.accept(
          new TransportException(Kind.PEER_LOST, device.name() + " reports " + event.type()));
    }
    tellAll(event);
  }

  /** On the progress thread. */
  void tellAll(AsyncEvent event) {
    listeners.forEach(l -> l.onDeviceEvent(event));
  }
}
