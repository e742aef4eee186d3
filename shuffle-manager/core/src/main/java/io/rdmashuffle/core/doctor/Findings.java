package io.rdmashuffle.core.doctor;

import io.rdmashuffle.core.doctor.Finding.Status;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Collects findings; shows them one by one as text, or all at the end as JSON. One thread. */
final class Findings {
  private final PrintStream out;
  private final boolean json;
  private final List<Finding> all = new ArrayList<>();

  Findings(PrintStream out, boolean json) {
    this.out = out;
    this.json = json;
  }

  void add(Finding finding) {
    all.add(finding);
    if (!json) {
      out.printf("%-8s %-10s %s%n", finding.status().label(), finding.check(), finding.text());
      if (!finding.remedy().isEmpty()) {
        out.printf("%-19s -> %s%n", "", finding.remedy());
      }
    }
  }

  /** The worst of all; ok if there are none. */
  Status verdict() {
    return all.stream().map(Finding::status).max(Comparator.naturalOrder()).orElse(Status.OK);
  }

  /** The closing words, or the whole document. */
  void finish() {
    if (json) {
      out.println(toJson());
      return;
    }
    out.println(
        switch (verdict()) {
          case OK -> "RDMA will work here.";
          case WARNING -> "RDMA will work here, but see the warnings.";
          case FAILED -> "RDMA will not work here as asked; blocks will come by TCP.";
        });
  }

  private String toJson() {
    String findings =
        all.stream()
            .map(
                f ->
                    object(
                        List.of(
                            Map.entry("check", f.check()),
                            Map.entry("status", f.status().label()),
                            Map.entry("text", f.text()),
                            Map.entry("remedy", f.remedy()))))
            .collect(Collectors.joining(",\n  "));
    return "{\"verdict\": "
        + quote(verdict().label())
        + ", \"findings\": [\n  "
        + findings
        + "\n]}";
  }

  private static String object(List<Map.Entry<String, String>> fields) {
    return fields.stream()
        .map(field -> quote(field.getKey()) + ": " + quote(field.getValue()))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
