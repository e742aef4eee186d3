package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** What the jar that users deploy contains, and what it must leave to the engine. */
class PluginJarIT {
  private static final Path JAR = Path.of(System.getProperty("plugin.jar"));

  /** Everything else would clash with a class of the engine or of the user's job. */
  private static final List<String> ALLOWED =
      List.of(
          "io/rdmashuffle/",
          "com/ibm/disni/",
          "com/esotericsoftware/kryo/kryo5/",
          "org/apache/hadoop/mapreduce/task/reduce/",
          "native/",
          "META-INF/");

  /** What one could take for ours by its package. */
  private static final List<String> HADOOPS =
      List.of(
          "org/apache/hadoop/mapreduce/task/reduce/Shuffle.class",
          "org/apache/hadoop/mapreduce/task/reduce/Fetcher.class",
          "org/apache/hadoop/mapreduce/task/reduce/MergeManagerImpl.class");

  @Test
  void holdsNothingOutsideItsOwnPackages() throws IOException {
    assertThat(files()).allSatisfy(name -> assertThat(ALLOWED).anyMatch(name::startsWith));
  }

  @Test
  void holdsEveryLibraryTheEngineDoesNotBring() throws IOException {
    assertThat(
            missing(
                "io/rdmashuffle/transport/CloseStack.class",
                "io/rdmashuffle/mapreduce/nm/RdmaShuffleHandler.class",
                "org/apache/hadoop/mapreduce/task/reduce/RdmaShuffle.class",
                "com/ibm/disni/verbs/impl/NativeDispatcher.class",
                "com/esotericsoftware/kryo/kryo5/Kryo.class",
                "com/esotericsoftware/kryo/kryo5/objenesis/Objenesis.class"))
        .isEmpty();
  }

  @Test
  void holdsTheNativeLibrariesOrTheReasonWhyNot() throws IOException {
    if (missing("native/ABSENT.txt").isEmpty()) {
      assertThat(files()).noneMatch(name -> name.endsWith(".so"));
      assertThat(text("native/ABSENT.txt")).isNotBlank();
    } else {
      String platform = "native/linux-" + machine() + "/";
      for (String library : List.of("libdisni.so", "libsofthca.so")) {
        assertThat(missing(platform + library, platform + library + ".sha256")).isEmpty();
      }
    }
  }

  @Test
  void holdsTheLicencesOfWhatItBundles() throws IOException {
    assertThat(text("META-INF/LICENSE")).contains("Apache License");
    assertThat(text("META-INF/LICENSE-kryo")).contains("Nathan Sweet");
    assertThat(text("META-INF/NOTICE")).contains("DiSNI", "Kryo", "Objenesis");
  }

  @Test
  void bringsNoClassOfHadoopsOwn() throws IOException {
    assertThat(files())
        .filteredOn(name -> name.startsWith("org/apache/hadoop/"))
        .as("classes that Hadoop has are Hadoop's")
        .isNotEmpty()
        .noneMatch(name -> HADOOPS.contains(name));
  }

  @Test
  void saysItsVersion() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      String version = jar.getManifest().getMainAttributes().getValue("Implementation-Version");
      assertThat(JAR.getFileName()).hasToString("rdma-shuffle-mapreduce-" + version + ".jar");
    }
  }

  private static String machine() {
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return arch.equals("amd64") ? "x86_64" : arch;
  }

  private static List<String> missing(String... names) throws IOException {
    List<String> files = files();
    return Stream.of(names).filter(name -> !files.contains(name)).toList();
  }

  private static List<String> files() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
    }
  }

  private static String text(String name) throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile());
        var in = jar.getInputStream(jar.getEntry(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
