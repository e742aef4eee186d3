package io.rdmashuffle.transport.device;

import io.rdmashuffle.transport.device.Selection.NotUsable;
import io.rdmashuffle.transport.device.Selection.Provider;
import io.rdmashuffle.transport.device.Selection.Selected;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Chooses the port that this process uses, by a setting: {@code auto}, an adapter ({@code mlx5_0}),
 * a port ({@code mlx5_0:1}), an IPv4 address of a port, or {@code soft} for the software adapter of
 * this project.
 *
 * <p>{@code auto} takes real adapters only: software ones, the kernel's rxe and siw too, lose to
 * TCP. Of several ports it takes the one with the preferred address, else the fastest, else the
 * first by name.
 *
 * <p>Looks once per {@link #choose}. Any thread.
 */
public final class DeviceSelection {
  private static final String AUTO = "auto";
  private static final String SOFT = "soft";
  private static final String SOFT_DEVICE = "soft0"; // as the software adapter calls itself
  private static final Pattern IPV4 = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
  private static final Comparator<Port> FASTEST =
      Comparator.comparingDouble((Port p) -> p.link().gigabitsPerSecond()).reversed();

  private final HostPaths paths;
  private final AdapterReader reader;

  public DeviceSelection(HostPaths paths, NetdevAddresses addresses) {
    this.paths = paths;
    this.reader = new AdapterReader(paths, addresses);
  }

  /**
   * What to choose by.
   *
   * @param setting as described above
   * @param preferred the address the host engine listens on; the software adapter takes it
   * @param wantedBytes registered memory the settings ask for, to be compared with the limit
   */
  public record Request(String setting, InetAddress preferred, long wantedBytes) {}

  public Selection choose(Request request) {
    String setting = request.setting().strip();
    if (setting.equals(SOFT)) {
      return soft(request);
    }
    List<Adapter> adapters = reader.adapters();
    if (adapters.isEmpty()) {
      return new NotUsable(whyNoAdapter());
    }
    List<Adapter> wanted = adapters.stream().filter(a -> matches(a, setting)).toList();
    if (wanted.isEmpty()) {
      return new NotUsable(whyNoMatch(setting, adapters));
    }
    List<Port> usable =
        wanted.stream()
            .filter(a -> a.whyUnusable().isEmpty())
            .flatMap(a -> a.ports().stream())
            .filter(p -> matches(p, setting) && p.whyUnusable().isEmpty())
            .sorted(FASTEST)
            .toList();
    if (usable.isEmpty()) {
      return new NotUsable(whyNotUsable(setting, wanted));
    }
    return openable(request, usable);
  }

  /** It listens on TCP, so any local IPv4 address will do. */
  private Selection soft(Request request) {
    InetAddress preferred = request.preferred();
    boolean usable = preferred instanceof Inet4Address && !preferred.isAnyLocalAddress();
    InetAddress address = usable ? preferred : ipv4("127.0.0.1");
    return new Selected(Provider.SOFT, SOFT_DEVICE, address, memlockWarning(request));
  }

  private Selection openable(Request request, List<Port> usable) {
    Path connectionManager = paths.deviceFiles().resolve("rdma_cm");
    if (!Files.exists(connectionManager)) {
      return new NotUsable(
          usable.get(0).name()
              + " cannot be opened, "
              + connectionManager
              + " is missing: load rdma_ucm; a container needs "
              + paths.deviceFiles()
              + " from its host");
    }
    InetAddress address = addressFor(request, usable);
    Port port = usable.stream().filter(p -> hasAddress(p, address)).findFirst().orElseThrow();
    return new Selected(Provider.SYSTEM, port.name(), address, memlockWarning(request));
  }

  private static InetAddress addressFor(Request request, List<Port> usable) {
    if (isAddress(request.setting())) {
      return ipv4(request.setting().strip());
    }
    return usable.stream()
        .filter(p -> hasAddress(p, request.preferred()))
        .map(p -> request.preferred())
        .findFirst()
        .orElse(usable.get(0).addresses().get(0));
  }

  private static boolean hasAddress(Port port, InetAddress address) {
    return port.addresses().stream().anyMatch(a -> a.equals(address));
  }

  private static boolean matches(Adapter adapter, String setting) {
    if (setting.equals(AUTO)) {
      return !adapter.isSoftware();
    }
    return adapter.name().equals(setting)
        || adapter.ports().stream().anyMatch(p -> matches(p, setting));
  }

  private static boolean matches(Port port, String setting) {
    return setting.equals(AUTO)
        || setting.equals(port.adapter())
        || setting.equals(port.name())
        || port.addresses().stream().anyMatch(a -> a.getHostAddress().equals(setting));
  }

  private String whyNoAdapter() {
    return Files.isDirectory(paths.adapters())
        ? "no RDMA adapter: " + paths.adapters() + " is empty, no driver has found one"
        : "no RDMA adapter: " + paths.adapters() + " does not exist, no RDMA driver is loaded";
  }

  private static String whyNoMatch(String setting, List<Adapter> adapters) {
    if (setting.equals(AUTO)) {
      String names = adapters.stream().map(Adapter::name).collect(Collectors.joining(", "));
      return "only software adapters (" + names + "): they lose to TCP; name one to use it";
    }
    String ports =
        adapters.stream()
            .flatMap(a -> a.ports().stream())
            .map(Port::describe)
            .collect(Collectors.joining(" | "));
    String what = isAddress(setting) ? "no adapter has the address " : "there is no adapter ";
    return what + setting + "; this host has: " + ports;
  }

  private static String whyNotUsable(String setting, List<Adapter> wanted) {
    List<String> reasons = new ArrayList<>();
    for (Adapter adapter : wanted) {
      Optional<String> own = adapter.whyUnusable();
      if (own.isPresent()) {
        reasons.add(adapter.name() + " " + own.get());
        continue;
      }
      for (Port port : adapter.ports()) {
        if (matches(port, setting)) {
          port.whyUnusable().ifPresent(why -> reasons.add(port.name() + " " + why));
        }
      }
    }
    return "no usable RDMA port: " + String.join(" | ", reasons);
  }

  private Optional<String> memlockWarning(Request request) {
    long limit = Memlock.bytes(paths.process());
    if (limit >= request.wantedBytes()) {
      return Optional.empty();
    }
    return Optional.of(
        "this process may lock "
            + limit
            + " bytes of memory, "
            + request.wantedBytes()
            + " are wanted: raise ulimit -l, LimitMEMLOCK= of the service, or --ulimit memlock of"
            + " the container, else blocks come by TCP");
  }

  private static boolean isAddress(String setting) {
    return IPV4.matcher(setting.strip()).matches();
  }

  private static InetAddress ipv4(String text) {
    try {
      return InetAddress.getByName(text); // a literal, no lookup
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(text, e);
    }
  }
}
