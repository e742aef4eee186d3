package io.rdmashuffle.transport.device;

import java.nio.file.Path;

/**
 * Where the kernel tells about adapters and about this process.
 *
 * @param adapters /sys/class/infiniband
 * @param deviceFiles /dev/infiniband
 * @param process /proc/self
 */
public record HostPaths(Path adapters, Path deviceFiles, Path process) {
  /** Those of Linux. */
  public static HostPaths system() {
    return new HostPaths(
        Path.of("/sys/class/infiniband"), Path.of("/dev/infiniband"), Path.of("/proc/self"));
  }
}
