package io.rdmashuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every script of dev/ and .ci/ tells its usage and refuses options it does not have, and touches
 * nothing meanwhile. They run in a copy of their folders: there is nothing else there to build or
 * to install with, and whatever they would write is seen.
 */
final class ScriptsTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final long LIMIT_S = 30;

  @TempDir private Path folder;
  private Path tree;

  static Stream<String> scripts() throws IOException {
    try (Stream<Path> dev = Files.list(ROOT.resolve("dev"));
        Stream<Path> ci = Files.list(ROOT.resolve(".ci"))) {
      return Stream.concat(dev, ci)
          .filter(Files::isRegularFile)
          .map(file -> ROOT.relativize(file).toString())
          .sorted()
          .toList()
          .stream();
    }
  }

  /** Those that refuse unknown options themselves. */
  static Stream<String> scriptsWithOptionsOfTheirOwn() throws IOException {
    return scripts().filter(script -> !script.equals("dev/test")); // whose others are Maven's
  }

  @BeforeEach
  void copy() throws IOException {
    tree = Files.createDirectory(folder.resolve("tree"));
    for (String part : new String[] {"dev", ".ci"}) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(part))) {
        for (Path file : files.toList()) {
          Files.copy(file, tree.resolve(ROOT.relativize(file).toString()));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void helpPrintsTheUsageAndDoesNothingElse(String script) throws Exception {
    for (String[] arguments : new String[][] {{"--help"}, {"-h"}, {"whatever", "--help"}}) {
      Map<String, String> before = content();

      Ended ended = run(script, arguments);

      assertThat(ended.status()).as(ended.toString()).isZero();
      assertThat(ended.errors()).isEmpty();
      assertThat(ended.output()).contains("  " + script).doesNotContain("set -euo").endsWith("\n");
      assertThat(content()).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @MethodSource("scriptsWithOptionsOfTheirOwn")
  void anUnknownOptionIsRefusedAndNothingElseIsDone(String script) throws Exception {
    for (String option : new String[] {"--no-such-option", "-x"}) {
      Map<String, String> before = content();

      Ended ended = run(script, option);

      assertThat(ended.status()).as(ended.toString()).isEqualTo(2);
      assertThat(ended.output()).isEmpty();
      assertThat(ended.errors())
          .isEqualTo("error: unknown option '" + option + "'; try " + script + " --help\n");
      assertThat(content()).isEqualTo(before);
    }
  }

  private record Ended(int status, String output, String errors) {}

  /** From another folder, with a home of its own. */
  private Ended run(String script, String... arguments) throws Exception {
    Path output = folder.resolve("output");
    Path errors = folder.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(
                Stream.concat(Stream.of(tree.resolve(script).toString()), Stream.of(arguments))
                    .toList())
            .directory(tree.resolve("dev/lib").toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().put("HOME", tree.toString());
    builder.environment().put("TMPDIR", tree.toString());
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).as(script).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(output), Files.readString(errors));
  }

  /** What is in the copy: names, and the bytes of files. */
  private Map<String, String> content() throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.toList()) {
        content.put(
            file.toString(),
            Files.isDirectory(file)
                ? ""
                : new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
      }
    }
    return content;
  }
}
