package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnpackedLibrariesTest {
  private static final String HERE = "linux-x86_64";
  @TempDir private Path jar;

  @Test
  void librariesAreUnpackedForThisUserAloneAndRemovedAgain() throws Exception {
    byte[] library = ElfMachineTest.elf(1, 62, 0);
    put("native/linux-x86_64/libdisni.so", library);
    put("native/linux-x86_64/libsofthca.so", library);
    Path folder;

    try (UnpackedLibraries unpacked = unpack("disni", "softhca")) {
      folder = unpacked.path("disni").getParent();
      assertThat(unpacked.path("disni")).hasBinaryContent(library).hasFileName("libdisni.so");
      assertThat(unpacked.path("softhca")).hasParent(folder);
      assertThat(Files.getPosixFilePermissions(folder))
          .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    assertThat(folder).doesNotExist();
  }

  @Test
  void jarBuiltWithoutNativeCodeTellsWhy() throws Exception {
    put("native/ABSENT.txt", "the build host lacks gcc\n".getBytes(StandardCharsets.UTF_8));

    assertRefused("this jar was built without its native libraries: the build host lacks gcc");
  }

  @Test
  void jarForAnotherMachineNamesBoth() throws Exception {
    put("native/linux-aarch64/libdisni.so", ElfMachineTest.elf(1, 183, 0));

    assertRefused("native libraries for linux-aarch64, this host is linux-x86_64");
  }

  @Test
  void jarWithNothingAtAllNamesWhatIsMissing() throws Exception {
    assertRefused("no native/linux-x86_64/libdisni.so");
  }

  @Test
  void libraryInTheWrongFolderIsRefused() throws Exception {
    put("native/linux-x86_64/libdisni.so", ElfMachineTest.elf(1, 183, 0));

    assertRefused("is for aarch64, this host is linux-x86_64");
  }

  @Test
  void fileThatIsNoLibraryIsRefused() throws Exception {
    put("native/linux-x86_64/libdisni.so", "git-lfs pointer".getBytes(StandardCharsets.UTF_8));

    assertRefused("not an ELF file");
  }

  @Test
  void aDirectoryThatCannotTakeThemIsNamedWithTheRemedy(@TempDir Path folder) throws Exception {
    Path missing = folder.resolve("scratch");
    Path file = Files.createFile(folder.resolve("file"));

    assertNotWritten(missing, missing + " (there is no such directory): set java.io.tmpdir to");
    assertNotWritten(file, file + " (Not a directory): set java.io.tmpdir to");
  }

  private static void assertNotWritten(Path temporary, String message) {
    assertThatThrownBy(() -> UnpackedLibraries.write(temporary, Map.of("disni", new byte[9999])))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(message)
        .hasMessageContaining("10 KiB of room");
  }

  @Test
  void oldFoldersOfKilledProcessesAreDeletedAndNothingElse(@TempDir Path temporary)
      throws Exception {
    FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofMinutes(11)));
    Path old = folder(temporary, "rdmashuffle-1", "libdisni.so");
    Path young = folder(temporary, "rdmashuffle-2", "libdisni.so");
    Path foreign = folder(temporary, "rdmashuffle-3", "thesis.txt");
    Path linked = folder(temporary, "elsewhere", "libdisni.so");
    Path link = Files.createSymbolicLink(temporary.resolve("rdmashuffle-4"), linked);
    for (Path folder : List.of(old, foreign, linked)) {
      Files.setLastModifiedTime(folder, longAgo);
    }

    UnpackedLibraries.write(temporary, Map.of()).close();

    assertThat(old).doesNotExist();
    assertThat(young.resolve("libdisni.so")).exists();
    assertThat(foreign.resolve("thesis.txt")).exists();
    assertThat(link.resolve("libdisni.so")).exists();
  }

  private static Path folder(Path in, String name, String file) throws IOException {
    Path folder = Files.createDirectory(in.resolve(name));
    Files.createFile(folder.resolve(file));
    return folder;
  }

  @Test
  void oneMissingLibraryLeavesNoneBehind() throws Exception {
    put("native/linux-x86_64/libdisni.so", ElfMachineTest.elf(1, 62, 0));
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    long before = foldersIn(temporary);

    assertThatThrownBy(() -> unpack("disni", "softhca").close())
        .hasMessageContaining("libsofthca.so");

    assertThat(foldersIn(temporary)).isLessThanOrEqualTo(before);
  }

  @Test
  void otherJarsOfTheClassPathAreNotLookedInto(@TempDir Path other) throws Exception {
    Files.createDirectories(other.resolve("native/linux-x86_64"));
    Files.write(other.resolve("native/linux-x86_64/libdisni.so"), ElfMachineTest.elf(1, 62, 0));
    URL[] path = {other.toUri().toURL(), jar.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, null)) {
      OwnResources own = new OwnResources(loader, jar.toUri().toURL().toString());

      assertThatThrownBy(() -> UnpackedLibraries.unpackFor(HERE, own, "disni").close())
          .hasMessageContaining("libdisni.so");
    }
  }

  @Test
  void platformsAreNamedAsTheBuildNamesThem() {
    assertThat(UnpackedLibraries.platform("Linux", "amd64")).isEqualTo("linux-x86_64");
    assertThat(UnpackedLibraries.platform("Linux", "aarch64")).isEqualTo("linux-aarch64");
    assertThat(UnpackedLibraries.platform("Mac OS X", "aarch64")).isEqualTo("mac-os-x-aarch64");
  }

  private UnpackedLibraries unpack(String... names) throws IOException {
    try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
      String base = jar.toUri().toURL().toString();
      return UnpackedLibraries.unpackFor(HERE, new OwnResources(loader, base), names);
    }
  }

  private void assertRefused(String message) {
    assertThatThrownBy(() -> unpack("disni").close())
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(message)
        .extracting(e -> ((TransportException) e).kind())
        .isEqualTo(Kind.CONFIG);
  }

  private void put(String name, byte[] content) throws IOException {
    Path file = jar.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, content);
    Files.writeString(Path.of(file + ".sha256"), LibraryDigest.of(content).toString() + "\n");
  }

  /** Those of this process's user that look like ours; other builds may remove theirs meanwhile. */
  private static long foldersIn(Path temporary) throws IOException {
    try (var entries = Files.list(temporary)) {
      return entries.filter(e -> e.getFileName().toString().startsWith("rdmashuffle-")).count();
    }
  }
}
