package io.rdmashuffle.transport.device;

/**
 * The state of a port's link.
 *
 * @param state DOWN, INIT, ARMED or ACTIVE
 * @param physicalState LinkUp, Polling, Disabled and others
 * @param layer InfiniBand or Ethernet
 * @param rate as the kernel writes it: 100 Gb/sec (4X EDR)
 */
public record Link(String state, String physicalState, String layer, String rate) {
  public boolean isActive() {
    return state.equals("ACTIVE");
  }

  public boolean isInfiniBand() {
    return layer.equals("InfiniBand");
  }

  /** The number in {@link #rate}, 0 if it has none. */
  public double gigabitsPerSecond() {
    String number = rate.split(" ", 2)[0];
    try {
      return Double.parseDouble(number);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
