package io.rdmashuffle.core.adapter;

import io.rdmashuffle.core.config.BindNetwork;
import io.rdmashuffle.core.config.ConfigReader;
import io.rdmashuffle.core.config.RdmaOptions;
import io.rdmashuffle.core.config.RdmaSettings;

/**
 * Which device a process wants.
 *
 * @param device which adapter or port, or {@code auto} or {@code soft}
 * @param network what its address must be in
 * @param networkKey the key of that setting, for messages
 */
public record DeviceSpec(String device, BindNetwork network, String networkKey) {
  private static final String AUTO = "auto";

  /** As configured. */
  public static DeviceSpec of(RdmaSettings settings, ConfigReader config) {
    return new DeviceSpec(
        settings.device(), settings.bindNetwork(), config.fullKey(RdmaOptions.BIND_ADDRESS));
  }

  boolean isAuto() {
    return device.equals(AUTO);
  }
}
