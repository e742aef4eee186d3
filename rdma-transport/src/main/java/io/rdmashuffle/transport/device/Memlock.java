package io.rdmashuffle.transport.device;

import java.nio.file.Files;
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
   * {@link Long#MAX_VALUE} if unlimited, if exempt, or if it cannot be told.
   *
   * @param process {@link HostPaths#process}
   */
  public static long bytes(Path process) {
    if (isExempt(process)) {
      return Long.MAX_VALUE;
    }
    Matcher limit = LIMIT.matcher(KernelFiles.text(process.resolve("limits")));
    if (!limit.find() || !limit.group(1).matches("[0-9]{1,18}")) {
      return Long.MAX_VALUE;
    }
    return Long.parseLong(limit.group(1));
  }

  /** By CAP_IPC_LOCK: capabilities(7). */
  private static boolean isExempt(Path process) {
    Matcher capabilities = CAPABILITIES.matcher(KernelFiles.text(process.resolve("status")));
    return capabilities.find()
        && ((Long.parseUnsignedLong(capabilities.group(1), 16) >>> CAP_IPC_LOCK) & 1) == 1
        && isInFirstUserNamespace(process);
  }

  /**
   * Whether capabilities of this process count where the kernel pins memory. It asks for them in
   * the first user namespace: root inside a container's own has no effect, user_namespaces(7).
   */
  public static boolean isInFirstUserNamespace(Path process) {
    Path userIds = process.resolve("uid_map");
    return !Files.exists(userIds) // a kernel without user namespaces
        || KernelFiles.text(userIds).matches("0\\s+0\\s+4294967295");
  }
}
