package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * {@code java -jar} of the plugin's jar on the adapter that {@code -Dit.device} names: what it sees
 * in the live sysfs, and READs out of each folder of {@code -Dit.folders}, one per file system.
 */
final class VerbsDoctorIT {
  private static final long LIMIT_S = 120;
  private final String device = System.getProperty("it.device");
  private final boolean isRoce = device.startsWith("rxe");

  private record Result(int exit, String output) {}

  private static Result run(List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-jar", System.getProperty("it.plugin")));
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
    System.out.println(output);
    return new Result(process.exitValue(), output);
  }

  @Test
  void itReadsFromItselfOnEveryFileSystem() throws Exception {
    List<String> folders = Arrays.asList(System.getProperty("it.folders").split(":"));
    List<String> arguments =
        Stream.concat(
                Stream.of("--device", device), folders.stream().flatMap(f -> Stream.of("--dir", f)))
            .toList();

    Result result = run(arguments);

    assertThat(result.output()).contains("choice     " + device + ":1 at ").contains("libibverbs");
    for (String folder : folders) {
      assertThat(result.output()).contains(folder + ": registered in place, READ works");
    }
    if (isRoce) {
      assertThat(result.output()).contains("RoCE v2 on eth0");
    }
    assertThat(result.exit()).isZero();
  }

  @Test
  void withoutANameItLeavesASoftwareAdapterAlone() throws Exception {
    Result result = run(List.of());

    assertThat(result.output()).contains("only software adapters (" + device + ")");
    assertThat(result.exit()).isEqualTo(1);
  }
}
