package io.rdmashuffle.benchmarks.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * What the demo was asked to do.
 *
 * @param device {@code auto}, {@code soft} or an adapter's name
 * @param strict whether a block by Netty is a failure when a device was chosen
 * @param scale TPC-DS scale factor
 * @param queries TPC-DS queries
 * @param sortMegabytes size of the TeraSort
 */
record DemoOptions(
    String device, boolean strict, double scale, List<String> queries, int sortMegabytes) {
  static final String USAGE =
      """
      dev/demo [--device auto|soft|NAME] [--strict] [--scale FACTOR] [--queries q64,q95,...]
               [--sort MEGABYTES]

        --device   auto (the default): a real adapter if there is a usable one, else the software
                   adapter "soft"; NAME: an adapter as in /sys/class/infiniband, or its IPv4 address
        --strict   fail if any block came by Netty
        --scale    TPC-DS scale factor, 0.1 by default
        --queries  TPC-DS queries, q51,q67,q95 by default
        --sort     size of the TeraSort in MB, 500 by default
      """;

  static DemoOptions parse(String[] arguments) {
    String device = "auto";
    boolean strict = false;
    double scale = 0.1;
    List<String> queries = List.of("q51", "q67", "q95");
    int sortMegabytes = 500;
    List<String> rest = new ArrayList<>(List.of(arguments));
    while (!rest.isEmpty()) {
      String flag = rest.remove(0);
      switch (flag) {
        case "--strict" -> strict = true;
        case "--device" -> device = value(flag, rest);
        case "--scale" -> scale = number(flag, value(flag, rest));
        case "--queries" -> queries = List.of(value(flag, rest).split(","));
        case "--sort" -> sortMegabytes = (int) number(flag, value(flag, rest));
        default -> throw new IllegalArgumentException("unknown argument " + flag);
      }
    }
    return new DemoOptions(device, strict, scale, queries, sortMegabytes);
  }

  private static String value(String flag, List<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException(flag + " needs a value");
    }
    return rest.remove(0);
  }

  private static double number(String flag, String text) {
    double number;
    try {
      number = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(flag + " takes a number, not " + text, e);
    }
    if (!(number > 0)) {
      throw new IllegalArgumentException(flag + " must be above 0, not " + text);
    }
    return number;
  }
}
