package io.rdmashuffle.transport.device;

import io.rdmashuffle.transport.device.Adapter.Transport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads adapters out of /sys/class/infiniband: Documentation/ABI/stable/sysfs-class-infiniband. */
public final class AdapterReader {
  private static final Pattern SOFTWARE_NAME = Pattern.compile("(rxe|siw)[0-9_].*|rxe|siw");
  private static final Pattern SOFTWARE_DESCRIPTION = Pattern.compile("rxe.*|.*[Ss]oftware.*");
  private static final Pattern PORT_NUMBER = Pattern.compile("[1-9][0-9]{0,3}");
  private static final int ARPHRD_INFINIBAND = 32; // linux/if_arp.h

  private static final int MAC_DIGITS = 12;

  private final Path root;
  private final Path netdevs;
  private final NetdevAddresses addresses;

  public AdapterReader(HostPaths paths, NetdevAddresses addresses) {
    this.root = paths.adapters();
    this.netdevs = paths.netdevs();
    this.addresses = addresses;
  }

  /** All adapters, by name; empty if the host has none or no driver for one. */
  public List<Adapter> adapters() {
    return KernelFiles.names(root).stream().map(this::adapter).toList();
  }

  private Adapter adapter(String name) {
    Path folder = root.resolve(name);
    List<Port> ports =
        KernelFiles.names(folder.resolve("ports")).stream()
            .filter(n -> PORT_NUMBER.matcher(n).matches())
            .map(n -> port(name, Integer.parseInt(n)))
            .toList();
    return new Adapter(
        name,
        KernelFiles.text(folder.resolve("node_guid")),
        transport(KernelFiles.label(folder.resolve("node_type"))),
        isSoftware(name, folder),
        ports);
  }

  private static Transport transport(String nodeType) {
    return switch (nodeType) {
      case "CA" -> Transport.INFINIBAND;
      case "RNIC" -> Transport.IWARP;
      default -> Transport.OTHER;
    };
  }

  /** Only rxe has the attribute parent; only hardware hangs on a bus and so has a device. */
  private static boolean isSoftware(String name, Path folder) {
    return Files.exists(folder.resolve("parent"))
        || !Files.exists(folder.resolve("device"))
        || SOFTWARE_NAME.matcher(name).matches()
        || SOFTWARE_DESCRIPTION.matcher(KernelFiles.text(folder.resolve("node_desc"))).matches();
  }

  private Port port(String adapter, int number) {
    Path folder = root.resolve(adapter).resolve("ports").resolve(Integer.toString(number));
    Link link =
        new Link(
            KernelFiles.label(folder.resolve("state")),
            KernelFiles.label(folder.resolve("phys_state")),
            KernelFiles.text(folder.resolve("link_layer")),
            KernelFiles.text(folder.resolve("rate")));
    Port.Lids lids =
        new Port.Lids(
            KernelFiles.number(folder.resolve("lid"), 0),
            KernelFiles.number(folder.resolve("sm_lid"), 0));
    List<Gid> gids = gids(folder);
    Path device = root.resolve(adapter);
    Set<String> netdevs = link.isInfiniBand() ? ipoib(device, number) : ethernet(device, gids);
    List<Port.Interface> interfaces =
        netdevs.stream().map(n -> new Port.Interface(n, addresses.of(n))).toList();
    return new Port(adapter, number, link, lids, gids, interfaces);
  }

  private static List<Gid> gids(Path port) {
    List<Gid> gids = new ArrayList<>();
    for (String index : KernelFiles.names(port.resolve("gids"))) {
      String value = KernelFiles.text(port.resolve("gids").resolve(index));
      Path attributes = port.resolve("gid_attrs");
      Gid gid =
          new Gid(
              Integer.parseInt(index),
              value,
              Gid.Type.of(KernelFiles.text(attributes.resolve("types").resolve(index))),
              KernelFiles.text(attributes.resolve("ndevs").resolve(index)));
      if (!gid.isZero()) {
        gids.add(gid);
      }
    }
    return List.copyOf(gids);
  }

  /**
   * The interfaces its GIDs come from (VLANs and bonds too), else those of the adapter, else the
   * one whose address the GID holds: all that siw shows on 6.1.
   */
  private Set<String> ethernet(Path device, List<Gid> gids) {
    Set<String> found = new LinkedHashSet<>();
    gids.stream().map(Gid::netdev).filter(n -> !n.isEmpty()).forEach(found::add);
    if (found.isEmpty()) {
      String parent = KernelFiles.text(device.resolve("parent"));
      found.addAll(
          parent.isEmpty() ? KernelFiles.names(device.resolve("device/net")) : List.of(parent));
    }
    if (found.isEmpty()) {
      gids.stream().flatMap(gid -> withAddressOf(gid).stream()).forEach(found::add);
    }
    return found;
  }

  /** An iWARP GID is the MAC address with zeros behind it (siw_query_gid). */
  private List<String> withAddressOf(Gid gid) {
    String digits = gid.value().replace(":", "");
    String mac = digits.substring(0, Math.min(MAC_DIGITS, digits.length()));
    if (!digits.substring(mac.length()).chars().allMatch(c -> c == '0')) {
      return List.of();
    }
    return KernelFiles.names(netdevs).stream()
        .filter(
            name ->
                KernelFiles.text(netdevs.resolve(name).resolve("address"))
                    .replace(":", "")
                    .equals(mac))
        .toList();
  }

  /** The interfaces of the adapter that are IPoIB and on this port. */
  private static Set<String> ipoib(Path device, int port) {
    Path folder = device.resolve("device/net");
    Set<String> netdevs = new LinkedHashSet<>();
    for (String name : KernelFiles.names(folder)) {
      Path netdev = folder.resolve(name);
      boolean infiniBand = KernelFiles.number(netdev.resolve("type"), 0) == ARPHRD_INFINIBAND;
      if (infiniBand && KernelFiles.number(netdev.resolve("dev_port"), 0) == port - 1) {
        netdevs.add(name);
      }
    }
    return netdevs;
  }
}
