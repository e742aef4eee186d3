package io.rdmashuffle.transport.device;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes what the kernel would show of adapters, under a temporary folder: classes are folders of
 * links into the tree of devices.
 */
final class SysfsTree {
  static final String ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";
  static final String LINK_LOCAL_GID = "fe80:0000:0000:0000:0e42:a1ff:fea1:b2c4";
  static final String FIRST_NAMESPACE = "         0          0 4294967295";

  private final Path devices;
  private final HostPaths paths;
  private final Map<String, List<NetdevAddress>> addresses = new HashMap<>();
  private final Map<String, Card> cards = new HashMap<>();

  SysfsTree(Path root) throws IOException {
    devices = root.resolve("sys/devices");
    paths =
        new HostPaths(
            root.resolve("sys/class"), root.resolve("dev/infiniband"), root.resolve("proc"));
    write(paths.deviceFiles().resolve("rdma_cm"), "");
    memlock("unlimited", "0000000000000000", FIRST_NAMESPACE);
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
    return choose(setting, AddressRange.ANY, preferred);
  }

  Selection choose(String setting, AddressRange range, String preferred) throws IOException {
    DeviceSelection.Request request =
        new DeviceSelection.Request(
            new DeviceSetting(setting), range, InetAddress.getByName(preferred));
    return new DeviceSelection(paths, netdevs()).choose(request);
  }

  /** Gives an interface of this network namespace addresses such as 10.0.0.1/24, in that order. */
  SysfsTree address(String netdev, String... all) throws IOException {
    List<NetdevAddress> parsed = new ArrayList<>();
    for (String one : all) {
      String[] parts = one.split("/");
      parsed.add(
          new NetdevAddress(
              (Inet4Address) InetAddress.getByName(parts[0]),
              parts.length == 1 ? 24 : Integer.parseInt(parts[1])));
    }
    addresses.put(netdev, List.copyOf(parsed));
    entry(devices.resolve("virtual/net"), netdev);
    return this;
  }

  SysfsTree mac(String netdev, String mac) throws IOException {
    write(entry(devices.resolve("virtual/net"), netdev).resolve("address"), mac);
    return this;
  }

  /** A bond in active-backup mode, with interfaces that are there already. */
  SysfsTree bond(String name, String active, String... members) throws IOException {
    Path bond = entry(devices.resolve("virtual/net"), name);
    write(bond.resolve("bonding/mode"), "active-backup 1");
    write(bond.resolve("bonding/slaves"), String.join(" ", members));
    write(bond.resolve("bonding/active_slave"), active);
    for (String member : members) {
      link(paths.netdevs().resolve(member).toRealPath().resolve("master"), bond);
    }
    return this;
  }

  SysfsTree memlock(String limit, String capabilities, String userIds) throws IOException {
    write(
        paths.process().resolve("limits"),
        "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max locked memory         "
            + limit
            + "              unlimited            bytes\n");
    write(paths.process().resolve("status"), "Name:\tjava\nCapEff:\t" + capabilities + "\n");
    write(paths.process().resolve("uid_map"), userIds);
    return this;
  }

  /** Lines of mounts, outer ones first: point and type. */
  SysfsTree mounts(String... all) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (String mount : all) {
      String[] parts = mount.split(" ");
      lines.append("23 27 0:22 / " + parts[0] + " rw,relatime shared:7 - ");
      lines.append(parts[1] + " " + parts[1] + " rw\n");
    }
    write(paths.process().resolve("mountinfo"), lines.toString());
    return this;
  }

  SysfsTree withoutDeviceFile(String name) throws IOException {
    Files.delete(paths.deviceFiles().resolve(name));
    return this;
  }

  /** Finds or plants one that hangs on a bus. */
  Card hardware(String name, String nodeType) throws IOException {
    Path bus = devices.resolve("pci0000:00/0000:" + name + ":00.0");
    Card card = plant(name, bus, nodeType);
    link(card.folder.resolve("device"), Files.createDirectories(bus));
    return card.guid("0c42:a103:00a1:b2c4");
  }

  /** Finds or plants one that the kernel emulates. */
  Card software(String name, String nodeType, String description) throws IOException {
    Card card = plant(name, devices.resolve("virtual"), nodeType);
    return card.guid("5054:00ff:fe12:3456").file("node_desc", description);
  }

  private Card plant(String name, Path parent, String nodeType) throws IOException {
    Card known = cards.get(name);
    if (known != null) {
      return known.file("node_type", nodeType);
    }
    Card card = new Card(name, parent);
    card.file("node_type", nodeType);
    link(paths.adapters().resolve(name), card.folder);
    String verbs = "uverbs" + cards.size();
    Path file = parent.resolve("infiniband_verbs").resolve(verbs);
    write(file.resolve("ibdev"), name);
    link(paths.verbs().resolve(verbs), file);
    write(paths.verbs().resolve("abi_version"), "6");
    write(paths.deviceFiles().resolve(verbs), "");
    cards.put(name, card);
    return card;
  }

  /** The folder of an interface, made beneath a parent if there is none yet. */
  private Path entry(Path parent, String name) throws IOException {
    Path entry = paths.netdevs().resolve(name);
    if (!Files.exists(entry)) {
      link(entry, Files.createDirectories(parent.resolve(name)));
    }
    return entry.toRealPath();
  }

  private static void link(Path from, Path to) throws IOException {
    Files.createDirectories(from.getParent());
    Files.deleteIfExists(from);
    Files.createSymbolicLink(from, from.getParent().toRealPath().relativize(to.toRealPath()));
  }

  private static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content + "\n");
  }

  /** One adapter. */
  final class Card {
    private final Path folder;

    Card(String name, Path parent) throws IOException {
      folder = Files.createDirectories(parent.resolve("infiniband").resolve(name));
    }

    Card guid(String guid) throws IOException {
      return file("node_guid", guid);
    }

    Card file(String name, String content) throws IOException {
      write(folder.resolve(name), content);
      return this;
    }

    /** An IPoIB interface of a port. */
    Card ipoib(String netdev, int port) throws IOException {
      Path made =
          SysfsTree.this.entry(folder.resolve("device").toRealPath().resolve("net"), netdev);
      write(made.resolve("type"), "32");
      write(made.resolve("dev_id"), "0x" + Integer.toHexString(port - 1));
      write(made.resolve("dev_port"), Integer.toString(port - 1));
      return this;
    }

    /** An Ethernet interface of the adapter. */
    Card netdev(String netdev) throws IOException {
      Path parent = folder.resolve("device").toRealPath().resolve("net");
      write(SysfsTree.this.entry(parent, netdev).resolve("type"), "1");
      return this;
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

    /** A complete RoCE port whose interface is in this network namespace. */
    Card roce(int number, String netdev, String... all) throws IOException {
      if (all.length > 0) {
        address(netdev, all);
      }
      return roceElsewhere(number, netdev, all);
    }

    /**
     * The table of a RoCE port, a v1 and a v2 entry per address, as every network namespace sees it
     * whichever the interface is in.
     */
    Card roceElsewhere(int number, String netdev, String... all) throws IOException {
      active(number, "Ethernet");
      int index = 0;
      index = entry(number, index, LINK_LOCAL_GID, netdev);
      for (String one : all) {
        index = entry(number, index, mapped(one), netdev);
      }
      gid(number, index, ZERO_GID);
      return this;
    }

    /** Two more entries of a RoCE port, for an address of a VLAN, a bond or an interface on it. */
    Card entry(int number, String netdev, String address) throws IOException {
      Path table = folder.resolve("ports/" + number + "/gid_attrs/types");
      int used = KernelFiles.names(table).size();
      entry(number, used, mapped(address), netdev);
      return this;
    }

    private int entry(int number, int index, String gid, String netdev) throws IOException {
      gid(number, index, gid, "IB/RoCE v1", netdev);
      gid(number, index + 1, gid, "RoCE v2", netdev);
      return index + 2;
    }

    private static String mapped(String address) throws IOException {
      byte[] raw = InetAddress.getByName(address.split("/")[0]).getAddress();
      return String.format(
          "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", raw[0], raw[1], raw[2], raw[3]);
    }
  }
}
