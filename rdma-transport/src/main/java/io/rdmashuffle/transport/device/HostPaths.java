package io.rdmashuffle.transport.device;

import java.nio.file.Path;

/**
 * Where the kernel tells about adapters and about this process.
 *
 * @param adapters /sys/class/infiniband
 * @param netdevs /sys/class/net
 * @param deviceFiles /dev/infiniband
 * @param process /proc/self
 */
public record HostPaths(Path adapters, Path netdevs, Path deviceFiles, Path process) {
  /** Those of Linux. */
  public static HostPaths system() {
    return new HostPaths(
        Path.of("/sys/class/infiniband"),
        Path.of("/sys/class/net"),
        Path.of("/dev/infiniband"),
        Path.of("/proc/self"));
  }
}
