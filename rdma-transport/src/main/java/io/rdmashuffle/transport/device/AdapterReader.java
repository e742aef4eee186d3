package io.rdmashuffle.transport.device;

import io.rdmashuffle.transport.device.Adapter.Identity;
import io.rdmashuffle.transport.device.Adapter.Transport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads adapters out of /sys/class/infiniband: Documentation/ABI/stable/sysfs-class-infiniband. */
public final class AdapterReader {
  private static final Pattern PORT_NUMBER = Pattern.compile("[1-9][0-9]{0,3}");

  /** As siw writes it; it cannot be changed there (siw has no modify_device). */
  private static final String SIW_DESCRIPTION = "Software iWARP stack";

  private final HostPaths paths;
  private final PortInterfaces interfaces;

  public AdapterReader(HostPaths paths, NetdevAddresses addresses) {
    this.paths = paths;
    this.interfaces = new PortInterfaces(paths, addresses);
  }

  /** All adapters, by name; empty if the host has none or no driver for one. */
  public List<Adapter> adapters() {
    return KernelFiles.names(paths.adapters()).stream().map(this::adapter).toList();
  }

  private Adapter adapter(String name) {
    Path folder = paths.adapters().resolve(name);
    String nodeType = KernelFiles.label(folder.resolve("node_type"));
    if (nodeType.isEmpty()) {
      Identity unknown = new Identity("", Transport.OTHER, false);
      return new Adapter(name, unknown, List.of(), Optional.of(whyUnread(folder)));
    }
    Transport transport = transport(nodeType);
    Identity identity =
        new Identity(
            KernelFiles.text(folder.resolve("node_guid")),
            transport,
            isSoftware(transport, folder));
    List<Port> ports =
        KernelFiles.names(folder.resolve("ports")).stream()
            .filter(n -> PORT_NUMBER.matcher(n).matches())
            .map(n -> port(name, transport, Integer.parseInt(n)))
            .toList();
    return new Adapter(
        name, identity, ports, transport == Transport.OTHER ? Optional.empty() : obstacle(name));
  }

  private static String whyUnread(Path folder) {
    return Files.isDirectory(folder)
        ? "cannot be read, " + folder.resolve("node_type") + " is missing"
        : "cannot be read, "
            + folder
            + " leads nowhere: something hides /sys/devices from this process";
  }

  private static Transport transport(String nodeType) {
    return switch (nodeType) {
      case "CA" -> Transport.INFINIBAND;
      case "RNIC" -> Transport.IWARP;
      default -> Transport.OTHER;
    };
  }

  /**
   * Only rxe has the attribute parent; only hardware hangs on a bus and so has a device, apart from
   * older siw, which hangs on the device of its interface. Names and, but for siw, descriptions are
   * free text (rdma-ndd writes the host's name there).
   */
  private static boolean isSoftware(Transport transport, Path folder) {
    return Files.exists(folder.resolve("parent"))
        || !Files.exists(folder.resolve("device"))
        || (transport == Transport.IWARP
            && KernelFiles.text(folder.resolve("node_desc")).equals(SIW_DESCRIPTION));
  }

  /** A container may have the device files of some adapters only. */
  private Optional<String> obstacle(String name) {
    return KernelFiles.names(paths.verbs()).stream()
        .filter(file -> KernelFiles.text(paths.verbs().resolve(file).resolve("ibdev")).equals(name))
        .map(paths.deviceFiles()::resolve)
        .filter(file -> !Files.exists(file))
        .map(file -> "cannot be opened, " + file + " is missing: give it to the container")
        .findFirst();
  }

  private Port port(String adapter, Transport transport, int number) {
    Path device = paths.adapters().resolve(adapter);
    Path folder = device.resolve("ports").resolve(Integer.toString(number));
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
    List<Port.Interface> netdevs =
        link.isInfiniBand()
            ? interfaces.ipoib(device, number)
            : interfaces.ethernet(device, transport, gids);
    return new Port(adapter, number, link, lids, gids, netdevs);
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
}
