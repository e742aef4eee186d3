package io.rdmashuffle.benchmarks.mapreduce;

import java.util.ArrayList;
import java.util.List;

/**
 * What the demo was asked to do.
 *
 * @param device {@code auto}, {@code soft} or an adapter's name
 * @param strict whether a segment by HTTP is a failure when a device was chosen
 * @param sortMegabytes size of the TeraSort
 */
record DemoOptions(String device, boolean strict, int sortMegabytes) {
  static final String USAGE =
      """
      dev/demo mapreduce [--device auto|soft|NAME] [--strict] [--sort MEGABYTES]

        --device   auto (the default): a real adapter if there is a usable one, else the software
                   adapter "soft"; NAME: an adapter as in /sys/class/infiniband, or its IPv4 address
        --strict   fail if any segment came by HTTP
        --sort     size of the TeraSort in MB, 300 by default
      """;

  private static final int SORT_MEGABYTES = 300;
  private static final int MOST_MEGABYTES = 1 << 20;

  static DemoOptions parse(String[] arguments) {
    String device = "auto";
    boolean strict = false;
    int sortMegabytes = SORT_MEGABYTES;
    List<String> rest = new ArrayList<>(List.of(arguments));
    while (!rest.isEmpty()) {
      String flag = rest.remove(0);
      switch (flag) {
        case "--strict" -> strict = true;
        case "--device" -> device = value(flag, rest);
        case "--sort" -> sortMegabytes = megabytes(flag, value(flag, rest));
        default -> throw new IllegalArgumentException("unknown argument " + flag);
      }
    }
    return new DemoOptions(device, strict, sortMegabytes);
  }

  private static String value(String flag, List<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException(flag + " needs a value");
    }
    return rest.remove(0);
  }

  private static int megabytes(String flag, String text) {
    int number;
    try {
      number = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(flag + " takes a whole number, not " + text, e);
    }
    if (number < 1 || number > MOST_MEGABYTES) {
      throw new IllegalArgumentException(
          flag + " must be from 1 to " + MOST_MEGABYTES + ", not " + text);
    }
    return number;
  }
}
