import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Counts the test results below a folder and prints what did not pass, then one line {@code N
 * passed, N failed, N skipped}. Reads the {@code TEST-*.xml} files that Surefire, Failsafe and
 * dev/test write.
 *
 * <p>Usage: {@code java dev/lib/TestSummary.java FOLDER [--no-skips] [--also-failed NAME]...}.
 * Exits with 1 if a test failed, if none ran, or, with {@code --no-skips}, if one was skipped. What
 * {@code --also-failed} names (a build step) counts as one failure each when no test failed: a
 * build that broke before its tests ran must not end in "0 failed".
 */
final class TestSummary {
  private final List<String> failed = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  private final List<String> flaky = new ArrayList<>(); // passed, but not at the first try
  private int passed;

  public static void main(String[] args) throws Exception {
    TestSummary summary = new TestSummary();
    for (Path report : reportsBelow(Path.of(args[0]))) {
      summary.add(report);
    }
    List<String> alsoFailed = new ArrayList<>();
    boolean noSkips = false;
    for (int i = 1; i < args.length; i++) {
      switch (args[i]) {
        case "--no-skips" -> noSkips = true;
        case "--also-failed" -> alsoFailed.add(args[++i]);
        default -> throw new IllegalArgumentException("unknown argument: " + args[i]);
      }
    }
    if (summary.failed.isEmpty()) {
      summary.failed.addAll(alsoFailed);
    }
    summary.print();
    boolean bad = !summary.failed.isEmpty() || summary.passed == 0;
    System.exit(bad || (noSkips && !summary.skipped.isEmpty()) ? 1 : 0);
  }

  private static List<Path> reportsBelow(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
          .filter(file -> file.getParent().getFileName().toString().endsWith("-reports"))
          .sorted()
          .toList();
    }
  }

  private void add(Path report) throws Exception {
    Element suite;
    try {
      suite =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(report.toFile())
              .getDocumentElement();
    } catch (org.xml.sax.SAXException cut) {
      failed.add(report + ": unreadable, the tests were cut short: " + cut.getMessage());
      return;
    }
    NodeList cases = suite.getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      addCase((Element) cases.item(i));
    }
  }

  private void addCase(Element test) {
    String name = test.getAttribute("classname") + "." + test.getAttribute("name");
    Element reason = firstOf(test, "failure", "error");
    if (reason != null) {
      failed.add(name + ": " + firstLine(reason));
      return;
    }
    reason = firstOf(test, "skipped");
    if (reason != null) {
      skipped.add(name + ": " + firstLine(reason));
      return;
    }
    reason = firstOf(test, "flakyFailure", "flakyError");
    if (reason != null) {
      flaky.add(name + ": " + firstLine(reason));
    }
    passed++;
  }

  private static Element firstOf(Element test, String... names) {
    for (String name : names) {
      NodeList found = test.getElementsByTagName(name);
      if (found.getLength() > 0) {
        return (Element) found.item(0);
      }
    }
    return null;
  }

  private static String firstLine(Element reason) {
    String text = reason.getAttribute("message");
    text = text.isBlank() ? reason.getTextContent() : text;
    return text.strip().lines().findFirst().orElse("no reason given");
  }

  private void print() {
    skipped.forEach(line -> System.out.println("skipped  " + line));
    flaky.forEach(line -> System.out.println("flaky    " + line));
    failed.forEach(line -> System.out.println("FAILED   " + line));
    System.out.printf(
        "%d passed, %d failed, %d skipped%n", passed, failed.size(), skipped.size());
  }
}
