package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
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
    return unpack(OwnResources.ofThisJar(), PLATFORM, names);
  }

  static UnpackedLibraries unpack(OwnResources resources, String platform, String... names)
      throws TransportException {
    UnpackedLibraries unpacked = null;
    try {
      unpacked =
          new UnpackedLibraries(
              Files.createTempDirectory(
                  "rdmashuffle-",
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwx------"))));
      for (String name : names) {
        unpacked.write(name, content(resources, platform, name));
      }
      return unpacked;
    } catch (IOException e) {
      if (unpacked != null) {
        unpacked.close();
      }
      if (e instanceof TransportException reason) {
        throw reason;
      }
      throw new TransportException(
          Kind.CONFIG, "unpacking native libraries to java.io.tmpdir failed: " + e, e);
    }
  }

  Path path(String name) {
    return directory.resolve("lib" + name + ".so");
  }

  private void write(String name, byte[] content) throws IOException {
    Files.write(path(name), content);
  }

  private static byte[] content(OwnResources resources, String platform, String name)
      throws IOException {
    URL library = resources.find(resource(platform, name));
    if (library == null) {
      throw new TransportException(Kind.CONFIG, whyAbsent(resources, platform, name));
    }
    try (InputStream in = library.openStream()) {
      byte[] content = in.readAllBytes();
      String machine = ElfMachine.of(content);
      if (!platform.equals("linux-" + machine)) {
        throw new TransportException(
            Kind.CONFIG, library + " is for " + machine + ", this host is " + platform);
      }
      return content;
    }
  }

  private static String whyAbsent(OwnResources resources, String platform, String name)
      throws IOException {
    URL absent = resources.find(ABSENT);
    if (absent != null) {
      try (InputStream in = absent.openStream()) {
        String reason = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        return "this jar was built without its native libraries: " + reason;
      }
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
      LOG.warn("could not delete {} after loading native libraries from it", directory, e);
    }
  }
}
