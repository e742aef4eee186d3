package io.rdmashuffle.transport.device;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How many bytes this process may pin, without asking a native library. Any thread. */
public final class Memlock {
  private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory +(\\S+)");
  private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-f]+)");
  private static final int CAP_IPC_LOCK = 14; // linux/capability.h

  private Memlock() {}

  /**
   * {@link Long#MAX_VALUE} if unlimited, if exempt by CAP_IPC_LOCK, or if it cannot be told.
   *
   * @param process {@link HostPaths#process}
   */
  public static long bytes(Path process) {
    Matcher capabilities = CAPABILITIES.matcher(KernelFiles.text(process.resolve("status")));
    if (capabilities.find()
        && ((Long.parseUnsignedLong(capabilities.group(1), 16) >>> CAP_IPC_LOCK) & 1) == 1) {
      return Long.MAX_VALUE;
    }
    Matcher limit = LIMIT.matcher(KernelFiles.text(process.resolve("limits")));
    if (!limit.find() || !limit.group(1).matches("[0-9]{1,18}")) {
      return Long.MAX_VALUE;
    }
    return Long.parseLong(limit.group(1));
  }
}
