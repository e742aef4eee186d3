package io.rdmashuffle.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.memory.FileWindow;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.PlacedFile;
import io.rdmashuffle.transport.memory.WindowSupport;
import io.rdmashuffle.transport.protocol.Outputs.Output;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the running kernel lets an adapter pin of files: on each folder of {@code
 * -Drdmashuffle.test.folders=A:B:C}, one per file system, and on {@code
 * -Drdmashuffle.test.readonly=A:B}, where B is a read-only mount of A. Needs an adapter ({@link
 * TestDevice#ofSystem}), and root, to give files away.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemFilesTest {
  private static final int SOMEBODY_ELSE = 65_534;
  private TestDevice device;
  private DisniProvider provider;

  @BeforeAll
  void load() throws Exception {
    device = TestDevice.ofSystem();
    provider = device.load();
  }

  @AfterAll
  void unload() {
    if (provider != null) {
      provider.close();
    }
  }

  static Stream<Path> folders() {
    return Arrays.stream(System.getProperty("rdmashuffle.test.folders").split(File.pathSeparator))
        .map(Path.of("/")::resolve);
  }

  /** Pinned for reading since 6.2; before that every region is pinned for writing. */
  private static boolean kernelPinsForReading() {
    int[] version =
        Arrays.stream(System.getProperty("os.version").split("\\D", 3))
            .limit(2)
            .mapToInt(Integer::parseInt)
            .toArray();
    return version[0] > 6 || (version[0] == 6 && version[1] >= 2);
  }

  private static Path fresh(Path folder) throws Exception {
    return Files.createTempDirectory(folder, "windows");
  }

  /** What one window of a file of its own teaches about a folder. */
  private WindowSupport probe(Path file) throws Exception {
    try (CloseStack parts = new CloseStack()) {
      ProtectionDomain domain =
          parts.push(parts.push(provider.open(device.address())).allocateProtectionDomain());
      MemoryBudget budget =
          MemoryBudget.of(List.of(new MemoryBudget.Bound(64 << 20, "test", "nothing")), Map.of());
      FileWindows windows = new FileWindows(provider.hostMemory(), budget);
      try (FileWindow window = windows.open(domain, PlacedFile.of(file), 0, Files.size(file))) {
        assertThat(window.bytes()).isEqualTo(Files.size(file));
      } catch (VerbsException refused) {
        assertThat(refused).hasMessageContaining("cannot be registered");
      }
      return windows.support(file.getParent()).orElseThrow();
    }
  }

  @ParameterizedTest
  @MethodSource("folders")
  void theMappingIsTheOneThisKernelPins(Path folder) throws Exception {
    Path file = Files.write(fresh(folder).resolve("output"), new byte[8 << 20]);
    WindowSupport.Mode expected =
        kernelPinsForReading() ? WindowSupport.Mode.READ_ONLY : WindowSupport.Mode.READ_WRITE;
    assertThat(probe(file).mode()).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("folders")
  void aFileOfSomebodyElseIsNeverOpenedForWriting(Path folder) throws Exception {
    Path file = Files.write(fresh(folder).resolve("output"), new byte[1 << 20]);
    Files.setAttribute(file, "unix:uid", SOMEBODY_ELSE);
    WindowSupport support = probe(file);
    if (kernelPinsForReading()) {
      assertThat(support.mode()).isEqualTo(WindowSupport.Mode.READ_ONLY);
    } else {
      assertThat(support.mode()).isEqualTo(WindowSupport.Mode.NONE);
      assertThat(support.reason()).contains("is not this process's own");
    }
  }

  @Test
  void aFileOnAReadOnlyMountIsPinnedWhereTheKernelPinsForReading() throws Exception {
    String[] mount = System.getProperty("rdmashuffle.test.readonly").split(File.pathSeparator);
    Path writable = Files.write(fresh(Path.of(mount[0])).resolve("output"), new byte[1 << 20]);
    Path readOnly = Path.of(mount[1]).resolve(Path.of(mount[0]).relativize(writable));
    WindowSupport support = probe(readOnly);
    if (kernelPinsForReading()) {
      assertThat(support.mode()).isEqualTo(WindowSupport.Mode.READ_ONLY);
    } else {
      assertThat(support.mode()).isEqualTo(WindowSupport.Mode.NONE);
      assertThat(support.reason()).contains("to map for writing");
    }
  }

  @ParameterizedTest
  @MethodSource("folders")
  void largeBlocksAreReadOutOfTheFilesThemselves(Path folder) throws Exception {
    assertArrives(folder, Block.Source.READ, false);
  }

  @ParameterizedTest
  @MethodSource("folders")
  void whereTheKernelRefusesBlocksAreStaged(Path folder) throws Exception {
    assertArrives(folder, kernelPinsForReading() ? Block.Source.READ : Block.Source.STAGED, true);
  }

  /** All blocks of two files arrive as they are, twice, the large ones by the way expected. */
  private void assertArrives(Path folder, Block.Source way, boolean ofSomebodyElse)
      throws Exception {
    try (ProtocolRig rig = ProtocolRig.open(provider, device.address(), fresh(folder))) {
      for (int round = 0; round < 2; round++) {
        int[] lengths = new Random(round).ints(12, 20_000, 100_000).toArray();
        Output output = rig.owner().outputs().add(lengths);
        if (ofSomebodyElse) {
          Files.setAttribute(output.file().path(), "unix:uid", SOMEBODY_ELSE);
        }
        for (int pass = 0; pass < 2; pass++) {
          Fetched fetched =
              rig.fetch(IntStream.range(0, lengths.length).mapToObj(output::key).toList());
          assertThat(fetched.fallbacks()).isEmpty();
          for (int i = 0; i < lengths.length; i++) {
            assertThat(fetched.bytes(i)).isEqualTo(output.bytes(fetched.keys().get(i)));
            assertThat(fetched.source(i)).as("block %s", i).isEqualTo(way);
          }
        }
      }
    }
    assertThat(provider.openObjects()).isZero();
  }
}
