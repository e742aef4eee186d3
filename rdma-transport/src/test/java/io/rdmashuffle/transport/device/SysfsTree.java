package io.rdmashuffle.transport.device;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes what the kernel would show of adapters, under a temporary folder. */
final class SysfsTree {
  static final String ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";
  private final HostPaths paths;
  private final Map<String, List<Inet4Address>> addresses = new HashMap<>();

  SysfsTree(Path root) throws IOException {
    paths =
        new HostPaths(
            root.resolve("class"), root.resolve("net"), root.resolve("dev"), root.resolve("proc"));
    write(paths.deviceFiles().resolve("rdma_cm"), "");
    memlock("unlimited", "0000000000000000");
  }

  HostPaths paths() {
    return paths;
  }

  NetdevAddresses netdevs() {
    return name -> addresses.getOrDefault(name, List.of());
  }

  List<Adapter> adapters() {
    return new AdapterReader(paths, netdevs()).adapters();
  }

  Selection choose(String setting) throws IOException {
    return choose(setting, "192.168.9.9");
  }

  Selection choose(String setting, String preferred) throws IOException {
    DeviceSelection.Request request =
        new DeviceSelection.Request(setting, InetAddress.getByName(preferred), 64L << 20);
    return new DeviceSelection(paths, netdevs()).choose(request);
  }

  SysfsTree address(String netdev, String address) throws IOException {
    addresses.put(netdev, List.of((Inet4Address) InetAddress.getByName(address)));
    return this;
  }

  SysfsTree mac(String netdev, String mac) throws IOException {
    write(paths.netdevs().resolve(netdev).resolve("address"), mac);
    return this;
  }

  SysfsTree memlock(String limit, String capabilities) throws IOException {
    write(
        paths.process().resolve("limits"),
        "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max locked memory         "
            + limit
            + "              unlimited            bytes\n");
    write(paths.process().resolve("status"), "Name:\tjava\nCapEff:\t" + capabilities + "\n");
    return this;
  }

  SysfsTree withoutDeviceFiles() throws IOException {
    Files.delete(paths.deviceFiles().resolve("rdma_cm"));
    return this;
  }

  Card hardware(String name, String nodeType) throws IOException {
    Card card = new Card(name, nodeType, "0c42:a103:00a1:b2c4");
    Files.createDirectories(card.folder.resolve("device"));
    return card;
  }

  Card software(String name, String nodeType, String description) throws IOException {
    Card card = new Card(name, nodeType, "5054:00ff:fe12:3456");
    write(card.folder.resolve("node_desc"), description);
    return card;
  }

  private static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content + "\n");
  }

  /** One adapter. */
  final class Card {
    private final Path folder;

    Card(String name, String nodeType, String guid) throws IOException {
      folder = paths.adapters().resolve(name);
      write(folder.resolve("node_type"), nodeType);
      guid(guid);
    }

    Card guid(String guid) throws IOException {
      write(folder.resolve("node_guid"), guid);
      return this;
    }

    Card file(String name, String content) throws IOException {
      write(folder.resolve(name), content);
      return this;
    }

    /** An IPoIB interface of a port. */
    Card ipoib(String netdev, int port) throws IOException {
      file("device/net/" + netdev + "/type", "32");
      return file("device/net/" + netdev + "/dev_port", "0x" + Integer.toHexString(port - 1));
    }

    Card netdev(String netdev) throws IOException {
      return file("device/net/" + netdev + "/type", "1");
    }

    Card port(int number, String state, String physicalState, String layer) throws IOException {
      String port = "ports/" + number + "/";
      file(port + "state", state);
      file(port + "phys_state", physicalState);
      file(port + "link_layer", layer);
      file(port + "rate", "100 Gb/sec (4X EDR)");
      file(port + "lid", layer.equals("InfiniBand") ? "0x1f" : "0x0");
      return file(port + "sm_lid", layer.equals("InfiniBand") ? "0x1" : "0x0");
    }

    Card active(int number, String layer) throws IOException {
      return port(number, "4: ACTIVE", "5: LinkUp", layer);
    }

    Card rate(int number, String rate) throws IOException {
      return file("ports/" + number + "/rate", rate);
    }

    Card gid(int port, int index, String value) throws IOException {
      return file("ports/" + port + "/gids/" + index, value);
    }

    Card gid(int port, int index, String value, String type, String netdev) throws IOException {
      file("ports/" + port + "/gid_attrs/types/" + index, type);
      file("ports/" + port + "/gid_attrs/ndevs/" + index, netdev);
      return gid(port, index, value);
    }

    /** A complete InfiniBand port with IPoIB. */
    Card infiniBand(int number, String netdev) throws IOException {
      String gid = "fe80:0000:0000:0000:0e42:a103:00a1:b2c" + number;
      return active(number, "InfiniBand")
          .gid(number, 0, gid, "IB/RoCE v1", "")
          .ipoib(netdev, number);
    }

    /** A complete RoCE port with a v1 and a v2 entry per address. */
    Card roce(int number, String netdev) throws IOException {
      return active(number, "Ethernet")
          .gid(number, 0, "fe80:0000:0000:0000:0e42:a1ff:fea1:b2c4", "IB/RoCE v1", netdev)
          .gid(number, 1, "fe80:0000:0000:0000:0e42:a1ff:fea1:b2c4", "RoCE v2", netdev)
          .gid(number, 2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1", netdev)
          .gid(number, 3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", netdev)
          .gid(number, 4, ZERO_GID);
    }
  }
}
