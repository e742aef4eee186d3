package io.rdmashuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/guarantees.md names tests that exist, at least one for each guarantee. */
final class GuaranteesTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern TEST = Pattern.compile("`([\\w.]+)#(\\w+)`");
  private static final Pattern COMMAND = Pattern.compile("`(dev/\\w+)[^`]*`");

  private static List<String> rows() throws IOException {
    return Files.readAllLines(ROOT.resolve("docs/guarantees.md")).stream()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| guarantee"))
        .toList();
  }

  /** Names of test sources of all modules, without .java, and what is in them. */
  private static Map<String, String> testSources() throws IOException {
    List<Path> folders;
    try (Stream<Path> found =
        Files.find(ROOT, 4, (path, facts) -> facts.isDirectory() && path.endsWith("src/test"))) {
      folders = found.toList();
    }
    Map<String, String> sources = new HashMap<>();
    for (Path folder : folders) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          String name = file.getFileName().toString().replaceFirst("\\.java$", "");
          sources.merge(name, Files.readString(file), String::concat);
        }
      }
    }
    return sources;
  }

  @Test
  void everyGuaranteeNamesATest() throws IOException {
    assertThat(rows()).hasSizeGreaterThan(30).allMatch(row -> TEST.matcher(row).find());
  }

  @Test
  void theTestsNamedExist() throws IOException {
    Map<String, String> sources = testSources();
    List<String> missing = new ArrayList<>();
    for (String row : rows()) {
      for (MatchResult test : TEST.matcher(row).results().toList()) {
        String source = sources.getOrDefault(test.group(1), "");
        if (!Pattern.compile("void " + test.group(2) + "\\(").matcher(source).find()) {
          missing.add(test.group());
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void theCommandsNamedExist() throws IOException {
    for (String row : rows()) {
      for (MatchResult command : COMMAND.matcher(row).results().toList()) {
        assertThat(ROOT.resolve(command.group(1))).isExecutable();
      }
    }
  }
}
