package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class StaticInitializersTest {
  /** What is used once a transport is open; the others are done with by then. */
  private static final List<String> PACKAGES =
      List.of("", "channel", "client", "handover", "memory", "server", "verbs", "wire");

  @Test
  void allOfTheTransportAreRunAtOpening() throws Exception {
    Path root =
        Path.of(Transport.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .resolve(Transport.class.getPackageName().replace('.', '/'));

    assertThat(StaticInitializers.names())
        .containsExactlyInAnyOrderElementsOf(
            PACKAGES.stream().flatMap(name -> withInitializer(root, root.resolve(name))).toList());
  }

  @Test
  void eachIsFound() {
    StaticInitializers.run();
  }

  private static Stream<String> withInitializer(Path root, Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .filter(StaticInitializersTest::hasInitializer)
          .map(file -> root.relativize(file).toString().replace('/', '.'))
          .map(name -> name.substring(0, name.length() - ".class".length()))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The constant pool names each method that a class has; nobody may call this one. */
  private static boolean hasInitializer(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains("<clinit>");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
