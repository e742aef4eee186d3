package io.rdmashuffle.spark.link;

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
import org.junit.jupiter.params.provider.MethodSource;

/** The one plugin jar links against every Spark it is meant for. */
final class LinkCheckIT {
  private static final Path PLUGIN = Path.of(System.getProperty("plugin.jar"));
  private static final Path VERSIONS = Path.of(System.getProperty("link.folder"));

  /** RdmaBlockResolver chooses between these two at run time; every Spark has one of them. */
  private static final Set<String> ALTERNATIVES =
      Set.of(
          "no member org/apache/spark/shuffle/IndexShuffleBlockResolver.<init>"
              + "(Lorg/apache/spark/SparkConf;Lorg/apache/spark/storage/BlockManager;)V",
          "no member org/apache/spark/shuffle/IndexShuffleBlockResolver.<init>"
              + "(Lorg/apache/spark/SparkConf;Lorg/apache/spark/storage/BlockManager;"
              + "Ljava/util/Map;)V");

  static Stream<String> versions() {
    return Stream.of(
        "3.5.0-2.13", "3.5.9-2.12", "3.5.9-2.13", "4.0.4-2.13", "4.1.3-2.13", "4.2.0-2.13");
  }

  @ParameterizedTest
  @MethodSource("versions")
  void pluginLinks(String version) throws IOException {
    Set<String> problems = problems(jars(version));
    assertThat(problems).as("Spark and Scala " + version).isSubsetOf(ALTERNATIVES);
    assertThat(problems).hasSizeLessThan(2);
  }

  @Test
  void missingClassesAndMembersAreFound() throws IOException {
    List<Path> without =
        jars("4.1.3-2.13").stream()
            .filter(jar -> !jar.getFileName().toString().startsWith("spark-network-shuffle"))
            .toList();
    assertThat(problems(without))
        .contains("no class org/apache/spark/network/shuffle/BlockStoreClient");
    assertThat(problems(jars("3.5.9-2.13")))
        .as("a constructor that 3.5.2 took away")
        .containsAnyElementsOf(ALTERNATIVES);
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
      List<ClassFile> ours =
          plugin.stream()
              .map(entry -> entry.getName())
              .filter(name -> name.startsWith("io/rdmashuffle/") && name.endsWith(".class"))
              .map(name -> name.substring(0, name.length() - ".class".length()))
              .map(name -> index.find(name).orElseThrow())
              .toList();
      assertThat(ours).hasSizeGreaterThan(50);
      return new LinkCheck(
              index, List.of("org/apache/spark/", "scala/"), List.of("io/rdmashuffle/spark/"))
          .check(ours);
    }
  }
}
