package io.rdmashuffle.core.adapter;

import io.rdmashuffle.core.config.BindNetwork;
import io.rdmashuffle.core.config.ConfigReader;
import io.rdmashuffle.core.config.RdmaOptions;
import io.rdmashuffle.core.config.RdmaSettings;
import io.rdmashuffle.transport.device.AddressRange;
import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.DeviceSetting;
import java.net.InetAddress;

/**
 * Which device a process wants.
 *
 * @param device which adapter or port
 * @param network what its address must be in
 * @param networkKey the key of that setting, for messages
 */
public record DeviceSpec(DeviceSetting device, BindNetwork network, String networkKey) {

  /** As configured. */
  public static DeviceSpec of(RdmaSettings settings, ConfigReader config) {
    return new DeviceSpec(
        settings.device(), settings.bindNetwork(), config.fullKey(RdmaOptions.BIND_ADDRESS));
  }

  /**
   * What to choose a port of this host by.
   *
   * @param preferred decides between ports and addresses that are equally good
   */
  public DeviceSelection.Request request(InetAddress preferred) {
    AddressRange range =
        network.isSet()
            ? new AddressRange(networkKey + "=" + network, network::contains)
            : AddressRange.ANY;
    return new DeviceSelection.Request(device, range, preferred);
  }
}
