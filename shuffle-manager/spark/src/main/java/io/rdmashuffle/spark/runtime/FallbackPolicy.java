package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.transport.FallbackReason;
import java.util.Optional;

/**
 * Decides, before any device is looked at, whether a process may use RDMA, and what follows if it
 * cannot. Immutable.
 *
 * @param mode as configured
 * @param modeKey the key of that setting, for messages
 * @param obstacle why the engine's own configuration rules RDMA out, if it does
 */
public record FallbackPolicy(Mode mode, String modeKey, Optional<Availability.Absent> obstacle) {

  /** What happens to tasks without RDMA, for log lines. */
  String otherwise() {
    return mode == Mode.REQUIRED ? "its tasks fail, for " + modeKey + "=required" : "Netty is used";
  }

  /** Why no device is to be opened; empty if one is. */
  Optional<Availability.Absent> ruledOut() {
    return mode == Mode.OFF
        ? Optional.of(Availability.Absent.forGood(FallbackReason.NO_DEVICE, modeKey + "=off"))
        : obstacle;
  }

  /**
   * @throws RdmaRequiredException if RDMA is required
   */
  void accept(Availability.Absent absent) {
    if (mode == Mode.REQUIRED && absent.reason() != FallbackReason.STOPPING) {
      throw new RdmaRequiredException(
          modeKey + "=required, but this process has no RDMA: " + absent.text());
    }
  }
}
