package io.rdmashuffle.transport.device;

import java.net.InetAddress;
import java.util.Optional;

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
   * @param warning what is likely to go wrong with it all the same, one line
   */
  record Selected(Provider provider, String device, InetAddress address, Optional<String> warning)
      implements Selection {}

  /**
   * There is none.
   *
   * @param reason why, and what to do about it, one line
   */
  record NotUsable(String reason) implements Selection {}
}
