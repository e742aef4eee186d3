package io.rdmashuffle.transport.device;

import java.net.InetAddress;

/** The outcome of {@link DeviceSelection}. */
public sealed interface Selection {
  /** Which libraries drive the device. */
  enum Provider {
    /** libibverbs and librdmacm of the host. */
    SYSTEM,
    /** The software adapter that comes with this project. */
    SOFT
  }

  /**
   * A device to be opened.
   *
   * @param provider whose it is
   * @param device the port's name, for messages
   * @param address the IPv4 address that leads to it
   */
  record Selected(Provider provider, String device, InetAddress address) implements Selection {}

  /**
   * There is none.
   *
   * @param reason why, and what to do about it, one line
   */
  record NotUsable(String reason) implements Selection {}
}
