package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Native libraries of this jar, written to a directory that only this user can enter. Closing
 * deletes the files; what was loaded from them stays loaded.
 */
final class UnpackedLibraries implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnpackedLibraries.class);
  private static final String PLATFORM = platform(property("os.name"), property("os.arch"));
  private static final String ABSENT = "native/ABSENT.txt";
  private final Path directory;

  private UnpackedLibraries(Path directory) {
    this.directory = directory;
  }

  /**
   * Unpacks the libraries for this host.
   *
   * @param names without "lib" and ".so"
   */
  static UnpackedLibraries unpack(String... names) throws TransportException {
    return unpack(OwnResources.ofThisJar(), names);
  }

  static UnpackedLibraries unpack(OwnResources resources, String... names)
      throws TransportException {
    return unpackFor(PLATFORM, resources, names);
  }

  static UnpackedLibraries unpackFor(String platform, OwnResources resources, String... names)
      throws TransportException {
    Map<String, byte[]> contents = new LinkedHashMap<>();
    for (String name : names) {
      contents.put(name, content(resources, platform, name));
    }
    return write(Path.of(property("java.io.tmpdir")), contents);
  }

  /** The directory for temporary files may be full, missing, read-only or somebody else's. */
  static UnpackedLibraries write(Path temporary, Map<String, byte[]> contents)
      throws TransportException {
    UnpackedLibraries unpacked = null;
    try {
      unpacked =
          new UnpackedLibraries(
              Files.createTempDirectory(
                  temporary,
                  LeftoverFolders.PREFIX,
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwx------"))));
      LeftoverFolders.delete(unpacked.directory);
      for (Map.Entry<String, byte[]> library : contents.entrySet()) {
        Files.write(unpacked.path(library.getKey()), library.getValue());
      }
      return unpacked;
    } catch (IOException e) {
      if (unpacked != null) {
        unpacked.close();
      }
      long bytes = contents.values().stream().mapToLong(content -> content.length).sum();
      throw new TransportException(
          Kind.CONFIG,
          "the native libraries of this jar cannot be written to "
              + temporary
              + " ("
              + reason(e)
              + "): set java.io.tmpdir to a directory with "
              + (bytes / 1024 + 1)
              + " KiB of room that this user may write to and run programs from",
          e);
    }
  }

  /** What the system said, without the path; the JDK tells some by a type alone. */
  private static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "there is no such directory";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    return e instanceof FileSystemException f && f.getReason() != null
        ? f.getReason()
        : String.valueOf(e.getMessage());
  }

  Path path(String name) {
    return directory.resolve("lib" + name + ".so");
  }

  private static byte[] content(OwnResources resources, String platform, String name)
      throws TransportException {
    String resource = resource(platform, name);
    try {
      byte[] content = read(resources, resource);
      if (content == null) {
        throw new TransportException(Kind.CONFIG, whyAbsent(resources, platform, name));
      }
      String place = resource + " in " + resources.base();
      LibraryDigest.check(place, content, read(resources, resource + ".sha256"));
      String machine = ElfMachine.of(content);
      if (!platform.equals("linux-" + machine)) {
        throw new TransportException(
            Kind.CONFIG, place + " is for " + machine + ", this host is " + platform);
      }
      return content;
    } catch (TransportException e) {
      throw e;
    } catch (IOException e) {
      throw new TransportException(
          Kind.CONFIG, resource + " in " + resources.base() + " cannot be read: " + e, e);
    }
  }

  /** Null if there is none. */
  private static byte[] read(OwnResources resources, String name) throws IOException {
    URL found = resources.find(name);
    if (found == null) {
      return null;
    }
    try (InputStream in = found.openStream()) {
      return in.readAllBytes();
    }
  }

  private static String whyAbsent(OwnResources resources, String platform, String name)
      throws IOException {
    byte[] absent = read(resources, ABSENT);
    if (absent != null) {
      String reason = new String(absent, StandardCharsets.UTF_8).strip();
      return "this jar was built without its native libraries: " + reason;
    }
    for (String other : new String[] {"linux-x86_64", "linux-aarch64"}) {
      if (resources.find(resource(other, name)) != null) {
        return "this jar carries native libraries for "
            + other
            + ", this host is "
            + platform
            + ": take a jar that was built for it";
      }
    }
    return "this jar has no " + resource(platform, name) + ": it was built without native code";
  }

  private static String resource(String platform, String name) {
    return "native/" + platform + "/lib" + name + ".so";
  }

  static String platform(String os, String arch) {
    String machine = arch.equals("amd64") ? "x86_64" : arch;
    return os.toLowerCase(Locale.ROOT).replace(' ', '-') + "-" + machine;
  }

  private static String property(String name) {
    return System.getProperty(name, "unknown");
  }

  /** A file that cannot be deleted costs its disk space and nothing else. */
  @Override
  public void close() {
    try (var files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException e) {
      LOG.warn("could not delete {} after loading native libraries from it: {}", directory, e);
    }
  }
}
