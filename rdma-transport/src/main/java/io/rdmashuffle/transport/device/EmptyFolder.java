package io.rdmashuffle.transport.device;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/** Tells why sysfs shows no adapter: there is none, or something hides it from this process. */
final class EmptyFolder {
  private static final int MOUNT_POINT_FIELD = 4; // proc_pid_mountinfo(5)

  private final HostPaths paths;

  EmptyFolder(HostPaths paths) {
    this.paths = paths;
  }

  String why() {
    Path folder = paths.adapters();
    Optional<String> hidden = mountOver(folder);
    if (hidden.isPresent()) {
      return folder + " is hidden from this process: " + hidden.get();
    }
    if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      return folder + " does not exist, no RDMA driver is loaded";
    }
    if (!Files.isDirectory(folder)) {
      return folder + " leads to no directory: something hides it from this process";
    }
    return Files.isReadable(folder)
        ? folder + " is empty, no driver has found one"
        : folder + " may not be read by this process";
  }

  /** The last of the innermost mounts is the one that is seen. */
  private Optional<String> mountOver(Path folder) {
    String seen = "";
    Path where = null;
    for (String line : KernelFiles.text(paths.process().resolve("mountinfo")).split("\n")) {
      String[] fields = line.split(" ");
      int type = line.indexOf(" - ");
      if (type < 0 || fields.length <= MOUNT_POINT_FIELD) {
        continue;
      }
      Path mount = Path.of(fields[MOUNT_POINT_FIELD]);
      if (folder.startsWith(mount)
          && (where == null || mount.getNameCount() >= where.getNameCount())) {
        where = mount;
        seen = line.substring(type + 3).split(" ", 2)[0];
      }
    }
    return where == null || seen.equals("sysfs")
        ? Optional.empty()
        : Optional.of("no sysfs, but " + seen + " is mounted at " + where);
  }
}
