package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.FileGuard;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory of the process, mapped and registered. */
public interface MemoryContract extends RigTest {
  @Test
  default void allocatedMemoryIsZeroedAndWritable() throws Exception {
    Mapping mapping = rig().own(memory().allocate(10_000));
    ByteBuffer view = mapping.view(0, 10_000);
    byte[] content = new byte[10_000];
    view.get(content);

    assertThat(content).containsOnly(0);
    assertThat(mapping.bytes()).isEqualTo(10_000);
    assertThat(mapping.address() % memory().pageBytes()).isZero();
    assertThat(view.isDirect()).isTrue();
    assertThat(view.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    mapping.view(8, 8).putLong(0, 0x0102030405060708L);
    assertThat(mapping.view(0, 10_000).getLong(8)).isEqualTo(0x0102030405060708L);
    assertThat(mapping.view(15, 1).get()).isEqualTo((byte) 8);
  }

  @Test
  default void viewsOutsideAMappingAreRefused() throws Exception {
    Mapping mapping = rig().own(memory().allocate(4096));

    assertThatThrownBy(() -> mapping.view(0, 4097)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> mapping.view(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> mapping.view(4096, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> mapping.view(Long.MAX_VALUE, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> mapping.view(0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(mapping.view(4096, 0).remaining()).isZero();
  }

  @ParameterizedTest
  @EnumSource(MapMode.class)
  default void mappedWindowHoldsTheFilesBytes(MapMode mode, @TempDir Path folder) throws Exception {
    int page = memory().pageBytes();
    byte[] content = new byte[3 * page + 123];
    Path file = fileOf(folder, content);

    for (int first = 0; first <= 3; first++) {
      int bytes = content.length - first * page;
      try (Mapping window = memory().mapFile(file, (long) first * page, bytes, mode)) {
        byte[] seen = new byte[bytes];
        window.view(0, bytes).get(seen);
        assertThat(seen).isEqualTo(Arrays.copyOfRange(content, first * page, content.length));
      }
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(content);
  }

  @Test
  default void windowMayEndInsideTheFilesLastPage(@TempDir Path folder) throws Exception {
    int page = memory().pageBytes();
    Path file = fileOf(folder, new byte[page + 1]);

    try (Mapping window = memory().mapFile(file, 0, 2L * page, MapMode.READ_ONLY)) {
      assertThat(window.view(page + 1, page - 1).get(0)).isZero();
    }
    assertRefused(() -> memory().mapFile(file, 0, 2L * page + 1, MapMode.READ_ONLY), file);
  }

  @ParameterizedTest
  @EnumSource(MapMode.class)
  default void badWindowsAreRefusedByName(MapMode mode, @TempDir Path folder) throws Exception {
    int page = memory().pageBytes();
    Path file = fileOf(folder, new byte[2 * page]);
    Path missing = folder.resolve("missing");

    assertRefused(() -> memory().mapFile(missing, 0, page, mode), missing);
    assertRefused(() -> memory().mapFile(folder, 0, page, mode), folder);
    assertRefused(() -> memory().mapFile(file, 2L * page, page, mode), file);
    assertRefused(() -> memory().mapFile(file, Long.MAX_VALUE - page + 1, page, mode), file);
    assertThatThrownBy(() -> memory().mapFile(file, 1, page, mode)).isInstanceOf(Exception.class);
    assertThatThrownBy(() -> memory().mapFile(file, -page, page, mode))
        .isInstanceOf(Exception.class);
    assertThatThrownBy(() -> memory().mapFile(file, 0, 0, mode)).isInstanceOf(Exception.class);
    assertThatThrownBy(() -> memory().allocate(0)).isInstanceOf(Exception.class);
    assertThatThrownBy(() -> memory().allocate(-1)).isInstanceOf(Exception.class);
  }

  @Test
  default void aHeldFileIsReachedBeneathADirectoryWithoutLinks(@TempDir Path folder)
      throws Exception {
    Path inside = Files.createDirectories(folder.resolve("a/b"));
    Path file = Files.write(inside.resolve("file"), new byte[] {1, 2, 3});
    Path relative = folder.relativize(file);
    Files.createSymbolicLink(folder.resolve("link"), folder.resolve("a"));
    Files.createSymbolicLink(inside.resolve("alias"), file);

    try (HeldFile held = memory().holdBeneath(folder, relative)) {
      assertThat(Files.readAllBytes(held.path())).containsExactly(1, 2, 3);
      assertThat(FileGuard.of(held).key())
          .isEqualTo(Files.readAttributes(file, BasicFileAttributes.class).fileKey());
    }
    for (String refused : List.of("link/b/" + file.getFileName(), "a/b/none", "a/../../x", "a")) {
      assertThatThrownBy(() -> guardOf(folder, refused)).as(refused).isInstanceOf(Exception.class);
    }
    assertThatThrownBy(() -> guardOf(folder, "a/b/alias")).isInstanceOf(Exception.class);
  }

  private FileGuard guardOf(Path folder, String relative) throws Exception {
    try (HeldFile held = memory().holdBeneath(folder, Path.of(relative))) {
      return FileGuard.of(held);
    }
  }

  @Test
  default void peerReadsAFileThroughAWindow(@TempDir Path folder) throws Exception {
    int page = memory().pageBytes();
    byte[] content = new byte[4 * page];
    Path file = fileOf(folder, content);
    RigPair pair = rig().connect();
    RigMemory window = exportable(file, page, 2 * page);
    RigMemory sink = rig().sink(2 * page);

    assertThat(pair.read(1, window, sink, 2 * page).status()).isEqualTo(WcStatus.SUCCESS);

    assertThat(sink.bytes()).isEqualTo(Arrays.copyOfRange(content, page, 3 * page));
  }

  @Test
  default void regionTellsWhatItCovers() throws Exception {
    Mapping mapping = rig().own(memory().allocate(64 << 10));
    MemoryRegion part =
        rig()
            .own(
                rig()
                    .client()
                    .domain()
                    .register(mapping.address() + 100, 5000, Access.REMOTE_READ));

    assertThat(part.address()).isEqualTo(mapping.address() + 100);
    assertThat(part.bytes()).isEqualTo(5000);
  }

  @Test
  default void regionsHaveKeysOfTheirOwn() throws Exception {
    RigMemory first = rig().source(4096);
    RigMemory second = rig().source(4096);

    assertThat(first.region().rkey()).isNotEqualTo(second.region().rkey());
  }

  @Test
  default void regionOverTheDevicesLimitIsRefused() throws Exception {
    long limit = rig().client().device().attributes().maxMrBytes();
    assumeTrue(limit < Long.MAX_VALUE, "no limit to exceed");

    assertThatThrownBy(() -> rig().client().domain().register(4096, limit + 1, Access.REMOTE_READ))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(Long.toString(limit));
  }

  @Test
  default void emptyRegionIsRefused() throws Exception {
    Mapping mapping = rig().own(memory().allocate(4096));

    assertThatThrownBy(
            () -> rig().client().domain().register(mapping.address(), 0, Access.LOCAL_WRITE))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  default void hostTellsPageAndLimit() {
    assertThat(Integer.bitCount(memory().pageBytes())).isEqualTo(1);
    assertThat(memory().pageBytes()).isGreaterThanOrEqualTo(4096);
    assertThat(memory().memlockBytes()).isPositive();
  }

  private HostMemory memory() {
    return rig().provider().hostMemory();
  }

  /** Kernels differ in which kind of mapping can be registered; one of them must do. */
  private RigMemory exportable(Path file, long offset, int bytes) throws VerbsException {
    VerbsException refused = null;
    for (MapMode mode : MapMode.values()) {
      Mapping window = rig().own(memory().mapFile(file, offset, bytes, mode));
      try {
        return new RigMemory(
            window,
            rig()
                .own(
                    rig().server().domain().register(window.address(), bytes, Access.REMOTE_READ)));
      } catch (VerbsException e) {
        assertThat(e.kind()).isEqualTo(Kind.CONFIG);
        refused = e;
      }
    }
    throw refused;
  }

  private static Path fileOf(Path folder, byte[] content) throws Exception {
    new Random(content.length).nextBytes(content);
    return Files.write(folder.resolve("data"), content);
  }

  private static void assertRefused(Mapped mapped, Path file) {
    assertThatThrownBy(mapped::map)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(file.toString())
        .extracting(e -> ((VerbsException) e).kind())
        .isEqualTo(Kind.CONFIG);
  }

  /** A call that should not succeed. */
  interface Mapped {
    void map() throws Exception;
  }
}
