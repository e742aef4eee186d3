package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.memory.FileGuard;
import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.memory.PlacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileEntryTest {
  private static final int SLOT = 1000;
  private final FileEntry entry =
      new FileEntry(new OutputFile(Path.of("f"), 5000), SLOT, new Pages(4096));
  @TempDir private Path directory;

  private Window add(long from, long to) {
    Window window = new Window(entry, from, to);
    entry.add(window);
    return window;
  }

  @Test
  void findsTheWindowUnderAByte() {
    Window second = add(300, 400);
    Window first = add(100, 200);
    assertThat(entry.windowAt(99)).isNull();
    assertThat(entry.windowAt(100)).isSameAs(first);
    assertThat(entry.windowAt(199)).isSameAs(first);
    assertThat(entry.windowAt(200)).isNull();
    assertThat(entry.windowAt(300)).isSameAs(second);
    entry.remove(first);
    assertThat(entry.windowAt(150)).isNull();
  }

  @Test
  void windowsDoNotOverlap() {
    add(100, 200);
    add(300, 400);
    add(200, 300);
    for (int from : new int[] {50, 99, 100, 101, 199, 350}) {
      assertThatThrownBy(() -> add(from, from + 60)).isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> add(500, 500)).isInstanceOf(IllegalStateException.class);
    assertThat(entry.windows()).hasSize(3);
  }

  @Test
  void knowsTheNeighboursOfAGap() {
    add(100, 200);
    add(300, 400);
    assertThat(entry.nextWindowFrom(200, 1000)).isEqualTo(300);
    assertThat(entry.nextWindowFrom(400, 1000)).isEqualTo(1000);
    assertThat(entry.previousWindowTo(299, 0)).isEqualTo(200);
    assertThat(entry.previousWindowTo(50, 7)).isEqualTo(7);
    assertThat(entry.previousWindowTo(-1, 0)).isZero();
  }

  @Test
  void countsCoverageBySlot() {
    add(0, 200);
    add(900, 1000);
    add(1000, 1500);
    assertThat(entry.coveredBytes(0)).isEqualTo(300);
    assertThat(entry.coveredBytes(1)).isEqualTo(500);
    assertThat(entry.coveredBytes(2)).isZero();
  }

  @Test
  void isQuietWhenForgottenAndNotBusy() {
    List<String> heard = new ArrayList<>();
    entry.beginBusy();
    entry.forget(() -> heard.add("first"), () -> {});
    entry.forget(() -> heard.add("second"), () -> heard.add("told"));
    entry.runIfQuiet();
    assertThat(heard).isEmpty();
    entry.endBusy();
    entry.runIfQuiet();
    assertThat(heard).containsExactly("first", "second", "told");
    entry.forget(() -> heard.add("third"), () -> {});
    assertThat(heard).containsExactly("first", "second", "told", "third");
  }

  @Test
  void anErrorWhileItTellsThatItIsQuietKeepsNobodyFromBeingTold() {
    List<String> heard = new ArrayList<>();
    entry.beginBusy();
    Countdown left =
        new Countdown(
            1,
            () -> {
              heard.add("first");
              if (heard.size() == 1) {
                throw new OutOfMemoryError("the test's");
              }
            });
    entry.forget(left::arrive, () -> {});
    entry.forget(() -> heard.add("second"), () -> heard.add("told"));
    entry.endBusy();
    assertThatThrownBy(entry::runIfQuiet).isInstanceOf(OutOfMemoryError.class);

    entry.runIfQuiet();

    assertThat(heard).containsExactly("first", "first", "second", "told");
  }

  @Test
  void aFileReplacedUnderItsNameIsNoticed() throws IOException {
    Path path = Files.write(directory.resolve("data"), new byte[100]);
    FileEntry real = new FileEntry(new OutputFile(path, 100), SLOT, new Pages(4096));
    assertThatCode(real::confirm).doesNotThrowAnyException();
    Path other = Files.write(directory.resolve("other"), new byte[100]);
    Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);

    assertThatThrownBy(real::confirm)
        .isInstanceOfSatisfying(
            NotServedException.class,
            e -> assertThat(e.reason()).isEqualTo(FallbackReason.FILE_CHANGED));
  }

  @Test
  void aFileThatPinningTouchesStaysTheSameAndAnotherOneIsNoticed() throws IOException {
    Path path = Files.write(directory.resolve("data"), new byte[100]);
    FileEntry real = new FileEntry(new OutputFile(path, 100), SLOT, new Pages(4096));
    assertThatCode(real::confirm).doesNotThrowAnyException();
    Files.setLastModifiedTime(path, FileTime.fromMillis(1));
    assertThatThrownBy(real::confirm).isInstanceOf(NotServedException.class);
    real.expectOwnWrites();
    assertThatCode(real::confirm).doesNotThrowAnyException();
    Path other = Files.write(directory.resolve("other"), new byte[100]);
    Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(real::confirm).isInstanceOf(NotServedException.class);
  }

  @Test
  void aFileShorterThanItsIndexSaysIsRefused() throws IOException {
    Path path = Files.write(directory.resolve("data"), new byte[99]);
    FileEntry real = new FileEntry(new OutputFile(path, 100), SLOT, new Pages(4096));
    assertThatThrownBy(real::confirm)
        .isInstanceOf(NotServedException.class)
        .hasMessageContaining("99");
  }

  @Test
  void aMissingFileOrADirectoryIsRefused() {
    FileEntry missing =
        new FileEntry(new OutputFile(directory.resolve("none"), 1), SLOT, new Pages(4096));
    assertThatThrownBy(missing::confirm).isInstanceOf(NotServedException.class);
    FileEntry folder = new FileEntry(new OutputFile(directory, 1), SLOT, new Pages(4096));
    assertThatThrownBy(folder::confirm).isInstanceOf(NotServedException.class);
  }

  @Test
  void onlyTheFileThatWasLookedAtIsServed() throws Exception {
    Path path = Files.write(directory.resolve("data"), new byte[100]);
    Path stranger = Files.write(directory.resolve("stranger"), new byte[100]);
    Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    int owner = (Integer) Files.getAttribute(path, "unix:uid");
    PlacedFile placed = new PlacedFile(path, directory, Optional.of(new FileGuard(key, owner)));
    new FileEntry(new OutputFile(placed, 100), SLOT, new Pages(4096)).confirm();

    Files.delete(path);
    Files.createSymbolicLink(path, stranger);

    FileEntry entry = new FileEntry(new OutputFile(placed, 100), SLOT, new Pages(4096));
    assertThat(entry.place()).isEqualTo(directory);
    assertThatThrownBy(entry::confirm)
        .isInstanceOf(NotServedException.class)
        .hasMessageContaining("data");
  }
}
