package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.AsyncEvent;

/** Hears what the adapter reports by itself. Called on the progress thread. */
@FunctionalInterface
public interface DeviceListener {
  void onDeviceEvent(AsyncEvent event);
}
