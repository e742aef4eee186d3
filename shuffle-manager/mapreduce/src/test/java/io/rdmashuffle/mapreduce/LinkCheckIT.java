package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.link.ClassFile;
import io.rdmashuffle.transport.testing.link.ClassIndex;
import io.rdmashuffle.transport.testing.link.LinkCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The one plugin jar links against every Hadoop it is meant for. */
final class LinkCheckIT {
  private static final Path PLUGIN = Path.of(System.getProperty("plugin.jar"));
  private static final Path VERSIONS = Path.of(System.getProperty("link.folder"));
  private static final List<String> ENGINE = List.of("org/apache/hadoop/");

  @ParameterizedTest
  @ValueSource(strings = {"3.3.6", "3.4.3", "3.5.0"})
  void pluginLinks(String version) throws IOException {
    assertThat(problems(jars(version))).as("Hadoop " + version).isEmpty();
  }

  @Test
  void missingClassesAreFound() throws IOException {
    List<Path> without =
        jars("3.5.0").stream()
            .filter(jar -> !jar.getFileName().toString().contains("-shuffle-"))
            .toList();
    assertThat(problems(without)).contains("no class org/apache/hadoop/mapred/ShuffleHandler");
  }

  private static List<Path> jars(String version) throws IOException {
    try (Stream<Path> files = Files.list(VERSIONS.resolve(version))) {
      return files.toList();
    }
  }

  private static Set<String> problems(List<Path> engine) throws IOException {
    List<Path> all = new ArrayList<>(engine);
    all.add(PLUGIN);
    try (ClassIndex index = new ClassIndex(all);
        JarFile plugin = new JarFile(PLUGIN.toFile())) {
      List<String> names =
          plugin.stream()
              .map(entry -> entry.getName())
              .filter(name -> name.endsWith(".class"))
              .map(name -> name.substring(0, name.length() - ".class".length()))
              .filter(
                  name ->
                      name.startsWith("io/rdmashuffle/mapreduce/")
                          || name.startsWith("org/apache/hadoop/"))
              .toList();
      assertThat(names).hasSizeGreaterThan(30);
      List<ClassFile> ours = names.stream().map(name -> index.find(name).orElseThrow()).toList();
      return new LinkCheck(index, ENGINE, names).check(ours);
    }
  }
}
