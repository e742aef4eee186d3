package io.rdmashuffle.benchmarks.demo;

import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Selection;
import java.net.InetAddress;

/** Which device the demo asks the plugin for. */
public final class DemoDevice {
  private DemoDevice() {}

  /**
   * @param asked {@code auto}, or what the user named
   * @return what was named; for {@code auto} the same if the plugin will find an adapter, else
   *     {@code soft}
   */
  public static String choose(String asked) {
    if (!asked.equals("auto")) {
      return asked;
    }
    Selection selection =
        new DeviceSelection(HostPaths.system(), NetdevAddresses.system())
            .choose(new DeviceSelection.Request(asked, InetAddress.getLoopbackAddress(), 0));
    if (selection instanceof Selection.NotUsable none) {
      System.out.println("   " + none.reason() + "; the demo uses the software adapter \"soft\"");
      return "soft";
    }
    return asked;
  }
}
