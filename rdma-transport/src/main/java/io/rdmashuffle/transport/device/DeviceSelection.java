package io.rdmashuffle.transport.device;

import io.rdmashuffle.transport.device.Selection.NotUsable;
import io.rdmashuffle.transport.device.Selection.Provider;
import io.rdmashuffle.transport.device.Selection.Selected;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Chooses the port that this process uses, and the address of it, by a {@link DeviceSetting}.
 *
 * <p>{@code auto} takes real adapters only: software ones, the kernel's rxe and siw too, lose to
 * TCP. Of several ports it takes the one with the preferred address, else the fastest, else the
 * first by name; one that has only link-local addresses is the last choice. Of several addresses it
 * takes the primary one of the first subnet before single (/32) and link-local ones.
 *
 * <p>Looks once per {@link #choose}. Any thread.
 */
public final class DeviceSelection {
  private static final String SOFT_DEVICE = "soft0"; // as the software adapter calls itself
  private static final Comparator<Candidate> BEST =
      Comparator.comparing(Candidate::isLinkLocal)
          .thenComparing(Comparator.comparingDouble(Candidate::gigabitsPerSecond).reversed());

  private final HostPaths paths;
  private final NetdevAddresses addresses;

  public DeviceSelection(HostPaths paths, NetdevAddresses addresses) {
    this.paths = paths;
    this.addresses = addresses;
  }

  /**
   * What to choose by.
   *
   * @param setting what the user asks for
   * @param range what the address must be in
   * @param preferred the address the host engine listens on; the software adapter takes it
   */
  public record Request(DeviceSetting setting, AddressRange range, InetAddress preferred) {
    private boolean allows(NetdevAddress address) {
      return setting.matches(address) && range.allows(address);
    }
  }

  /** A port with the addresses of it that may be taken, best first. */
  private record Candidate(Port port, List<NetdevAddress> addresses) {
    boolean isLinkLocal() {
      return addresses.get(0).isLinkLocal();
    }

    double gigabitsPerSecond() {
      return port.link().gigabitsPerSecond();
    }

    boolean has(InetAddress address) {
      return addresses.stream().anyMatch(a -> a.address().equals(address));
    }
  }

  public Selection choose(Request request) {
    DeviceSetting setting = request.setting();
    if (setting.isSoft()) {
      return soft(request);
    }
    List<Adapter> adapters = new AdapterReader(paths, addresses).adapters();
    if (adapters.isEmpty()) {
      return new NotUsable("no RDMA adapter: " + new EmptyFolder(paths).why());
    }
    List<Adapter> wanted = adapters.stream().filter(a -> matches(a, setting)).toList();
    if (wanted.isEmpty()) {
      return new NotUsable(whyNoMatch(setting, adapters));
    }
    List<Candidate> usable =
        wanted.stream()
            .filter(a -> a.whyUnusable().isEmpty())
            .flatMap(a -> a.ports().stream())
            .filter(p -> setting.matches(p) && whyNot(p, request).isEmpty())
            .map(p -> new Candidate(p, allowed(p, request)))
            .sorted(BEST)
            .toList();
    return usable.isEmpty()
        ? new NotUsable(whyNotUsable(request, wanted))
        : openable(request, usable);
  }

  /** It listens on TCP, so any local IPv4 address will do. */
  private Selection soft(Request request) {
    List<InetAddress> choice = new ArrayList<>(List.of(request.preferred()));
    choice.add(InetAddress.getLoopbackAddress());
    List<NetdevAddress> own =
        KernelFiles.names(paths.netdevs()).stream()
            .flatMap(n -> addresses.of(n).stream())
            .sorted(Comparator.comparingInt(NetdevAddress::rank))
            .toList();
    own.forEach(a -> choice.add(a.address()));
    for (InetAddress address : choice) {
      if (address instanceof Inet4Address ipv4
          && !ipv4.isAnyLocalAddress()
          && request.range().allows().test(ipv4)) {
        return new Selected(Provider.SOFT, SOFT_DEVICE, ipv4);
      }
    }
    return new NotUsable(
        request.range().text()
            + " holds none of this host's addresses "
            + own.stream().map(NetdevAddress::text).toList());
  }

  private Selection openable(Request request, List<Candidate> usable) {
    Candidate best =
        usable.stream().filter(c -> c.has(request.preferred())).findFirst().orElse(usable.get(0));
    Path connectionManager = paths.deviceFiles().resolve("rdma_cm");
    if (!Files.exists(connectionManager)) {
      return new NotUsable(
          best.port().name()
              + " cannot be opened, "
              + connectionManager
              + " is missing: load rdma_ucm; a container needs "
              + paths.deviceFiles()
              + " from its host");
    }
    InetAddress address =
        best.has(request.preferred()) ? request.preferred() : best.addresses().get(0).address();
    return new Selected(Provider.SYSTEM, best.port().name(), address);
  }

  private static List<NetdevAddress> allowed(Port port, Request request) {
    return port.addresses().stream().filter(request::allows).toList();
  }

  /** Why a port cannot be taken; empty if it can. */
  private static Optional<String> whyNot(Port port, Request request) {
    Optional<String> own = port.whyUnusable();
    if (own.isPresent() || !allowed(port, request).isEmpty()) {
      return own;
    }
    String has =
        port.addresses().stream().map(NetdevAddress::text).collect(Collectors.joining(", "));
    return Optional.of("has no address in " + request.range().text() + ", but " + has);
  }

  private static boolean matches(Adapter adapter, DeviceSetting setting) {
    if (setting.isAuto()) {
      return !adapter.identity().isSoftware();
    }
    return adapter.name().equals(setting.text())
        || adapter.ports().stream().anyMatch(setting::matches);
  }

  private static String whyNoMatch(DeviceSetting setting, List<Adapter> adapters) {
    if (setting.isAuto()) {
      String names = adapters.stream().map(Adapter::name).collect(Collectors.joining(", "));
      return "only software adapters (" + names + "): they lose to TCP; name one to use it";
    }
    String ports =
        adapters.stream()
            .flatMap(a -> a.ports().stream())
            .map(Port::describe)
            .collect(Collectors.joining(" | "));
    String what = setting.isAddress() ? "no adapter has the address " : "there is no adapter ";
    return what + setting + "; this host has: " + ports;
  }

  private static String whyNotUsable(Request request, List<Adapter> wanted) {
    List<String> reasons = new ArrayList<>();
    for (Adapter adapter : wanted) {
      Optional<String> own = adapter.whyUnusable();
      if (own.isPresent()) {
        reasons.add(adapter.name() + " " + own.get());
        continue;
      }
      for (Port port : adapter.ports()) {
        if (request.setting().matches(port)) {
          whyNot(port, request).ifPresent(why -> reasons.add(port.name() + " " + why));
        }
      }
    }
    return "no usable RDMA port: " + String.join(" | ", reasons);
  }
}
