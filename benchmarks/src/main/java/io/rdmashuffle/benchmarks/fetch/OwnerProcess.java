package io.rdmashuffle.benchmarks.fetch;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Serves the files until its standard input ends. Arguments: transport, layout. Prints {@code
 * ENDPOINT word}, and once more for each line that it reads. This and its simple name are what
 * other commits rely on ({@link Harness}).
 */
public final class OwnerProcess {
  private OwnerProcess() {}

  public static void main(String[] arguments) throws Exception {
    Layout layout = Layout.parse(arguments, 1);
    try (FetchTransport.Owner owner = FetchTransports.owner(arguments[0], layout);
        BufferedReader input =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      do {
        System.out.println("ENDPOINT " + owner.endpoint());
      } while (input.readLine() != null);
    }
    System.exit(0);
  }
}
