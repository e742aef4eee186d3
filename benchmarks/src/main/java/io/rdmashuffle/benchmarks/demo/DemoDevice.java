package io.rdmashuffle.benchmarks.demo;

import io.rdmashuffle.transport.device.AddressRange;
import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.DeviceSetting;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Selection;
import java.net.InetAddress;

/** Which device the demo asks the plugin for. */
public final class DemoDevice {
  private DemoDevice() {}

  /**
   * @param asked {@code auto}, or what the user named
   * @return what was asked for if the plugin will find it; for {@code auto} else {@code soft}
   * @throws IllegalArgumentException saying why what was named cannot be used
   */
  public static String choose(String asked) {
    Selection selection =
        new DeviceSelection(HostPaths.system(), NetdevAddresses.system())
            .choose(
                new DeviceSelection.Request(
                    new DeviceSetting(asked), AddressRange.ANY, InetAddress.getLoopbackAddress()));
    if (!(selection instanceof Selection.NotUsable none)) {
      return asked;
    }
    if (!asked.equals("auto")) {
      throw new IllegalArgumentException("--device " + asked + ": " + none.reason());
    }
    System.out.println("   " + none.reason() + "; the demo uses the software adapter \"soft\"");
    return "soft";
  }
}
