package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.testing.fake.Resource;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileWindowsTest {
  private static final Predicate<Path> OWN = file -> true;
  private static final Predicate<Path> FOREIGN = file -> false;

  @TempDir Path directory;
  private FakeHost host;
  private Path file;

  @BeforeEach
  void open() throws Exception {
    host = new FakeHost(1 << 20);
    file = Files.write(directory.resolve("map.data"), new byte[10_000]);
  }

  @AfterEach
  void nothingIsLeft() {
    host.close();
  }

  private FileWindows windows(Predicate<Path> mayOpenForWriting) {
    return new FileWindows(host.memory, host.budget, mayOpenForWriting);
  }

  @Test
  void windowCoversItsRangeAndIsCountedInWholePages() throws Exception {
    try (FileWindow window = windows(OWN).open(host.domain, PlacedFile.of(file), 4096, 5904)) {
      assertThat(window.offsetBytes()).isEqualTo(4096);
      assertThat(window.bytes()).isEqualTo(8192);
      assertThat(window.rkey()).isNotZero();
      assertThat(window.addressOf(5000, 7288)).isEqualTo(window.address() + 904);
      assertThatThrownBy(() -> window.addressOf(5000, 7289))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> window.addressOf(4095, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(host.budget.usedBytes(Use.WINDOWS)).isEqualTo(8192);
    }
    assertThat(host.budget.usedBytes()).isZero();
  }

  @Test
  void closingTwiceIsHarmless() throws Exception {
    FileWindow window = windows(OWN).open(host.domain, PlacedFile.of(file), 0, 4096);
    window.close();
    window.close();
  }

  @Test
  void readOnlyMappingIsTriedFirstAndRemembered() throws Exception {
    FileWindows windows = windows(OWN);
    List<MapMode> tried = new ArrayList<>();
    host.fabric.faults().refuseFiles((path, mode) -> !tried.add(mode));
    assertThat(windows.support(directory)).isEmpty();
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
    windows.open(host.domain, PlacedFile.of(file), 4096, 4096).close();
    assertThat(tried).containsExactly(MapMode.READ_ONLY, MapMode.READ_ONLY);
    assertThat(windows.support(directory))
        .contains(new WindowSupport(WindowSupport.Mode.READ_ONLY, ""));
  }

  @Test
  void writableMappingIsTheSecondChoiceAndRemembered() throws Exception {
    FileWindows windows = windows(OWN);
    List<MapMode> tried = new ArrayList<>();
    host.fabric
        .faults()
        .refuseFiles(
            (path, mode) -> {
              tried.add(mode);
              return mode == MapMode.READ_ONLY;
            });
    byte[] before = Files.readAllBytes(file);
    windows.open(host.domain, PlacedFile.of(file), 8192, 4096).close();
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
    assertThat(tried).containsExactly(MapMode.READ_ONLY, MapMode.READ_WRITE, MapMode.READ_WRITE);
    assertThat(windows.support(directory).orElseThrow().mode())
        .isEqualTo(WindowSupport.Mode.READ_WRITE);
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
  }

  @Test
  void foreignFilesAreNeverOpenedForWriting() throws Exception {
    FileWindows windows = windows(FOREIGN);
    List<MapMode> tried = new ArrayList<>();
    host.fabric.faults().refuseFiles((path, mode) -> tried.add(mode));
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 0, 4096))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFAULT.number()))
        .hasMessageContaining("map.data is not this process's own");
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 0, 4096))
        .hasMessageContaining("refuses read-only mappings");
    assertThat(tried).containsExactly(MapMode.READ_ONLY);
  }

  @Test
  void aForeignFileIsNotOpenedForWritingEvenWhereOthersAre() throws Exception {
    Path foreign = Files.write(directory.resolve("foreign.data"), new byte[4096]);
    FileWindows windows = windows(file::equals);
    host.fabric.faults().refuseFiles((path, mode) -> mode == MapMode.READ_ONLY);
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(foreign), 0, 4096))
        .hasMessageContaining("foreign.data is not this process's own");
  }

  @Test
  void directoryWhereNothingWorksIsNotTriedAgain() throws Exception {
    FileWindows windows = windows(OWN);
    List<MapMode> tried = new ArrayList<>();
    host.fabric.faults().refuseFiles((path, mode) -> tried.add(mode));
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 0, 4096))
          .isInstanceOfSatisfying(
              VerbsException.class,
              e -> {
                assertThat(e.kind()).isEqualTo(Kind.CONFIG);
                assertThat(e.errno()).isEqualTo(Errno.EFAULT.number());
              })
          .hasMessageContaining("refuses writable mappings, too");
    }
    assertThat(tried).hasSize(2);
    assertThat(windows.support(directory).orElseThrow().mode()).isEqualTo(WindowSupport.Mode.NONE);
  }

  @Test
  void directoriesAreProbedOneByOne() throws Exception {
    Path other = Files.createDirectory(directory.resolve("other"));
    Path otherFile = Files.write(other.resolve("map.data"), new byte[4096]);
    FileWindows windows = windows(OWN);
    host.fabric.faults().refuseFiles((path, mode) -> path.startsWith(other));
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(otherFile), 0, 4096))
        .hasMessageContaining(other.toString());
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
  }

  @Test
  void lackOfMemoryTeachesNothingAboutTheDirectory() throws Exception {
    FileWindows windows = windows(OWN);
    host.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 0, 4096))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.kind()).isEqualTo(Kind.RETRY));
    assertThat(windows.support(directory)).isEmpty();
    assertThat(host.budget.usedBytes()).isZero();
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
  }

  @Test
  void budgetIsAskedBeforeAnythingIsMapped() throws Exception {
    FileWindows windows = windows(OWN);
    host.budget.tryReserve(Use.STAGING, (1 << 20) - 4096);
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 0, 8192))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.RETRY))
        .hasMessageContaining("no room for 8 KiB of WINDOWS");
    windows.open(host.domain, PlacedFile.of(file), 0, 4096).close();
    host.budget.release(Use.STAGING, (1 << 20) - 4096);
  }

  @Test
  void rangeBehindTheFileIsRefusedBeforeItIsMapped() {
    FileWindows windows = windows(OWN);
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 8192, 4097))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFIG))
        .hasMessageContaining("which has 10000");
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 1L << 40, 4096))
        .hasMessageContaining("which has 10000");
    assertThatThrownBy(
            () -> windows.open(host.domain, PlacedFile.of(directory.resolve("gone")), 0, 4096))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("gone");
    assertThat(host.fabric.openCount(Resource.MAPPING)).isZero();
  }

  @Test
  void unalignedWindowIsABugOfTheCaller() {
    assertThatThrownBy(() -> windows(OWN).open(host.domain, PlacedFile.of(file), 100, 4096))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> windows(OWN).open(host.domain, PlacedFile.of(file), 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void fileCutShortMeanwhileTeachesNothingAboutTheDirectory() throws Exception {
    FileWindows windows = windows(OWN);
    host.fabric
        .faults()
        .refuseFiles(
            (path, mode) -> {
              truncate(path);
              return true;
            });
    assertThatThrownBy(() -> windows.open(host.domain, PlacedFile.of(file), 8192, 1000))
        .hasMessageContaining("which has 100");
    assertThat(windows.support(directory)).isEmpty();
  }

  private static void truncate(Path file) {
    try {
      Files.write(file, new byte[100]);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void ownFilesMayBeOpenedForWritingAndMissingOnesNot() {
    assertThat(new WritableFiles().test(file)).isTrue();
    assertThat(new WritableFiles().test(directory.resolve("gone"))).isFalse();
  }

  @Test
  void worksOnLargePages() throws Exception {
    try (FakeHost large = new FakeHost(1 << 20, 65536);
        FileWindow window =
            new FileWindows(large.memory, large.budget, OWN)
                .open(large.domain, PlacedFile.of(file), 0, 1)) {
      assertThat(window.bytes()).isEqualTo(65536);
    }
  }
}
