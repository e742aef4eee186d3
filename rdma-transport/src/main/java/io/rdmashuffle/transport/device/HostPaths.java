package io.rdmashuffle.transport.device;

import java.nio.file.Path;

/**
 * Where the kernel tells about adapters and about this process.
 *
 * @param classes /sys/class
 * @param deviceFiles /dev/infiniband
 * @param process /proc/self
 */
public record HostPaths(Path classes, Path deviceFiles, Path process) {
  /** Those of Linux. */
  public static HostPaths system() {
    return new HostPaths(Path.of("/sys/class"), Path.of("/dev/infiniband"), Path.of("/proc/self"));
  }

  /** /sys/class/infiniband: a link for each adapter. */
  Path adapters() {
    return classes.resolve("infiniband");
  }

  /** /sys/class/infiniband_verbs: a link for each device file uverbsN. */
  Path verbs() {
    return classes.resolve("infiniband_verbs");
  }

  /** /sys/class/net: a link for each network interface of this process's network namespace. */
  Path netdevs() {
    return classes.resolve("net");
  }
}
