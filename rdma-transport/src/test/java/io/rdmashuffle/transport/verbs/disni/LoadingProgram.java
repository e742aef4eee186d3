package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Loads the software adapter, in a JVM that may end by it. Arguments: a folder, then {@code
 * damaged} (each kind of damage, one line each), {@code stop} (unpacks, and waits) or {@code once}.
 */
final class LoadingProgram {
  private static final String PLATFORM =
      UnpackedLibraries.platform(System.getProperty("os.name"), System.getProperty("os.arch"));
  private final Path folder;

  private LoadingProgram(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] args) throws IOException {
    LoadingProgram program = new LoadingProgram(Path.of(args[0]));
    switch (args[1]) {
      case "damaged" -> program.loadDamaged();
      case "stop" -> {
        System.out.println(UnpackedLibraries.unpack("disni").path("disni"));
        System.in.read();
      }
      default -> System.out.println(program.load(OwnResources.ofThisJar()));
    }
  }

  private void loadDamaged() throws IOException {
    for (String name : new String[] {"disni", "softhca"}) {
      byte[] whole = bytes(name);
      for (Map.Entry<String, byte[]> damage : damages(whole).entrySet()) {
        writeBoth();
        Files.write(file(name), damage.getValue());
        report(name + " " + damage.getKey());
      }
      writeBoth();
      Files.delete(Path.of(file(name) + ".sha256"));
      report(name + " without digest");
    }
    writeBoth();
    byte[] noNatives = bytes("softhca");
    Files.write(file("disni"), noNatives);
    Files.writeString(Path.of(file("disni") + ".sha256"), LibraryDigest.of(noNatives).toString());
    report("other library");
    writeBoth();
    report("intact");
  }

  private static Map<String, byte[]> damages(byte[] whole) {
    Map<String, byte[]> damages = new LinkedHashMap<>();
    int full = whole.length;
    int[] lengths = {
      0, 1, 19, 20, 63, 64, 1_000, 4_096, 5_000, 20_000, full / 2, full - 4_096, full - 1, full + 1
    };
    for (int length : lengths) {
      damages.put("cut to " + length, Arrays.copyOf(whole, length));
    }
    for (int at : new int[] {5, 18, 64, full / 2, full - 1}) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 1;
      damages.put("changed at " + at, flipped);
    }
    return damages;
  }

  private void writeBoth() throws IOException {
    for (String name : new String[] {"disni", "softhca"}) {
      Files.createDirectories(file(name).getParent());
      Files.write(file(name), bytes(name));
      Files.write(
          Path.of(file(name) + ".sha256"),
          OwnResources.ofThisJar().find(resource(name) + ".sha256").openStream().readAllBytes());
    }
  }

  private Path file(String name) {
    return folder.resolve(resource(name));
  }

  private static String resource(String name) {
    return "native/" + PLATFORM + "/lib" + name + ".so";
  }

  private static byte[] bytes(String name) throws IOException {
    try (var in = OwnResources.ofThisJar().find(resource(name)).openStream()) {
      return in.readAllBytes();
    }
  }

  private void report(String what) throws IOException {
    try (var loader =
        new java.net.URLClassLoader(new java.net.URL[] {folder.toUri().toURL()}, null)) {
      System.out.println(
          what + ": " + load(new OwnResources(loader, folder.toUri().toURL().toString())));
    }
  }

  private String load(OwnResources natives) {
    try (DisniProvider provider = DisniProviders.soft(natives)) {
      return "loaded, " + provider.openObjects() + " objects";
    } catch (TransportException e) {
      return e.kind() + " " + e.getMessage();
    }
  }
}
