package io.rdmashuffle.core.doctor;

import io.rdmashuffle.core.config.ByteSize;
import io.rdmashuffle.transport.device.Adapter;
import io.rdmashuffle.transport.device.AdapterReader;
import io.rdmashuffle.transport.device.DeviceSelection;
import io.rdmashuffle.transport.device.Gid;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.Memlock;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Port;
import io.rdmashuffle.transport.device.Selection;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What can be told without opening a device: from sysfs and procfs. One thread. */
final class HostChecks {
  private final HostPaths paths;
  private final NetdevAddresses addresses;
  private final Findings findings;

  HostChecks(HostPaths paths, NetdevAddresses addresses, Findings findings) {
    this.paths = paths;
    this.addresses = addresses;
    this.findings = findings;
  }

  void platform() {
    findings.add(
        Finding.ok(
            "platform",
            "Java "
                + System.getProperty("java.version")
                + ", "
                + System.getProperty("os.name")
                + " "
                + System.getProperty("os.version")
                + " "
                + System.getProperty("os.arch")));
  }

  /** Every port, usable or not. */
  void adapters() {
    for (Adapter adapter : new AdapterReader(paths, addresses).adapters()) {
      Optional<String> why = adapter.whyUnusable();
      if (why.isPresent()) {
        findings.add(Finding.warning("adapter", adapter.name() + " " + why.get(), ""));
      }
      adapter.ports().forEach(this::port);
    }
  }

  private void port(Port port) {
    String text = port.describe() + gids(port);
    findings.add(
        port.whyUnusable().isPresent()
            ? Finding.warning("port", text, "")
            : Finding.ok("port", text));
  }

  private static String gids(Port port) {
    List<Gid> used = port.gids().stream().filter(gid -> !gid.isZero()).toList();
    return used.isEmpty()
        ? ""
        : used.stream()
            .map(gid -> gid.index() + ": " + gid.value() + " " + type(gid) + netdev(gid))
            .collect(Collectors.joining("; ", "; GIDs ", ""));
  }

  private static String type(Gid gid) {
    return switch (gid.type()) {
      case IB_ROCE_V1 -> gid.netdev().isEmpty() ? "InfiniBand" : "RoCE v1";
      case ROCE_V2 -> "RoCE v2";
      case OTHER -> "other";
    };
  }

  private static String netdev(Gid gid) {
    return gid.netdev().isEmpty() ? "" : " on " + gid.netdev();
  }

  /** What a job would choose; empty if nothing. */
  Optional<Selection.Selected> selection(DoctorOptions options, InetAddress own) {
    Selection selection =
        new DeviceSelection(paths, addresses).choose(options.device().request(own));
    if (selection instanceof Selection.Selected selected) {
      findings.add(
          Finding.ok("choice", selected.device() + " at " + selected.address().getHostAddress()));
      return Optional.of(selected);
    }
    findings.add(
        Finding.failed(
            "choice",
            ((Selection.NotUsable) selection).reason(),
            "without a usable port blocks come by TCP; --device soft tries the software adapter"));
    return Optional.empty();
  }

  void memlock(ByteSize wanted) {
    long limitBytes = Memlock.bytes(paths.process());
    String limit =
        limitBytes == Long.MAX_VALUE ? "unlimited" : ByteSize.bytes(limitBytes).toString();
    String text = "this process may lock " + limit + ", " + wanted + " wanted";
    findings.add(
        limitBytes >= wanted.bytes()
            ? Finding.ok("memlock", text)
            : Finding.warning(
                "memlock",
                text,
                "raise it for the executors or the NodeManager: ulimit -l, LimitMEMLOCK= of the"
                    + " service, --ulimit memlock of the container; else less is registered"));
  }
}
