package io.rdmashuffle.transport.testing.fake;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** What is open, where it was opened, and which rules were broken. Under the fabric's monitor. */
final class Ledger {
  private final Map<Object, Entry> open = new IdentityHashMap<>();
  private final List<String> violations = new ArrayList<>();

  private record Entry(Resource resource, Throwable opened) {
    void tell(List<String> report) {
      report.add("left open: " + resource + ", opened");
      for (StackTraceElement frame : opened.getStackTrace()) {
        report.add("    at " + frame);
      }
    }
  }

  void opened(Object object, Resource resource) {
    open.put(object, new Entry(resource, new Throwable()));
  }

  void closed(Object object) {
    open.remove(object);
  }

  void violated(String rule) {
    violations.add(rule);
  }

  int count(Resource resource) {
    return (int) open.values().stream().filter(e -> e.resource == resource).count();
  }

  void assertNothingOpen() {
    if (open.isEmpty() && violations.isEmpty()) {
      return;
    }
    List<String> report = new ArrayList<>();
    violations.forEach(v -> report.add("broken rule: " + v));
    open.values().stream()
        .sorted(Comparator.comparing(Entry::resource))
        .forEach(e -> e.tell(report));
    throw new AssertionError(String.join(System.lineSeparator(), report));
  }
}
