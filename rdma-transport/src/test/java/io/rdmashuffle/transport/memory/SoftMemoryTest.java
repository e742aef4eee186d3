package io.rdmashuffle.transport.memory;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.memory.MemoryBudget.Bound;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pools and windows with mappings and regions of native code instead of invented ones. */
class SoftMemoryTest {
  private final CloseStack parts = new CloseStack();
  private final MemoryBudget budget =
      MemoryBudget.of(List.of(new Bound(1 << 20, "test", "nothing")), Map.of());
  private DisniProvider soft;
  private int openBefore;
  private HostMemory memory;
  private ProtectionDomain domain;

  @BeforeEach
  void open() throws Exception {
    soft = DisniProviders.soft();
    openBefore = soft.openObjects();
    memory = soft.hostMemory();
    domain =
        parts.push(
            parts.push(soft.open(InetAddress.getByName("127.0.0.1"))).allocateProtectionDomain());
  }

  @AfterEach
  void nothingIsLeft() {
    parts.close();
    assertThat(soft.openObjects()).isEqualTo(openBefore);
    assertThat(budget.usedBytes()).isZero();
    soft.close();
  }

  @Test
  void chunkOutlivesItsPool() {
    MemorySource source =
        new MemorySource(memory, domain, budget, Use.READER_POOL, Access.LOCAL_WRITE);
    ChunkPoolSettings settings = new ChunkPoolSettings(1000, 4, 8, 0);
    ChunkPool pool = new ChunkPool(source, settings, Work::perform, NanoClock.system());
    Chunk chunk = pool.tryTake();
    chunk.view(0, 1000).putLong(992, 7);
    pool.close();
    assertThat(chunk.view(992, 8).getLong(0)).isEqualTo(7);
    chunk.close();
  }

  /** Else a fork would move the pages under the adapter: what it writes would be lost (fork(2)). */
  @Test
  void memoryThatTheAdapterWritesIsKeptOutOfChildProcesses() throws Exception {
    try (Mapping mapping = memory.allocate(5L * memory.pageBytes())) {
      String begin = Long.toHexString(mapping.address()) + "-";
      boolean found = false;
      String flags = "";
      for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
        found |= line.startsWith(begin);
        if (found && line.startsWith("VmFlags:")) {
          flags = line;
          break;
        }
      }
      assertThat(flags.split(" +")).as("flags of the mapping, proc(5)").contains("dc");
    }
  }

  @Test
  void aFolderSwappedForALinkNeverShowsBytesOfTheOtherFile(@TempDir Path directory)
      throws Exception {
    try (SwappedFolder swapped = new SwappedFolder(directory)) {
      FileGuard guard;
      Path relative = swapped.root.relativize(swapped.file);
      try (HeldFile held = memory.holdBeneath(swapped.root, relative)) {
        guard = FileGuard.of(held);
      }
      PlacedFile placed = new PlacedFile(swapped.file, swapped.root, Optional.of(guard));
      swapped.start();
      int right = 0;
      int refused = 0;
      long deadlineNs = System.nanoTime() + 60_000_000_000L;
      while (right < 3000 || refused == 0) {
        assertThat(System.nanoTime() - deadlineNs).as("%d, %d", right, refused).isNegative();
        try {
          assertThat(firstByte(placed, right % 2 == 0)).isEqualTo(SwappedFolder.RIGHT);
          right++;
        } catch (TransportException e) {
          refused++;
        }
      }
    }
  }

  private byte firstByte(PlacedFile placed, boolean mapped) throws Exception {
    try (HeldFile held = placed.hold(memory)) {
      if (!mapped) {
        return Files.readAllBytes(held.path())[0];
      }
      try (Mapping mapping = memory.mapFile(held.path(), 0, 1, MapMode.READ_ONLY)) {
        return mapping.view(0, 1).get();
      }
    }
  }

  @Test
  void aGuardedFileOfAnotherOwnerOrInodeIsRefused(@TempDir Path directory) throws Exception {
    Path file = Files.write(directory.resolve("file"), new byte[10]);
    FileGuard guard;
    try (HeldFile held = memory.holdBeneath(directory, Path.of("file"))) {
      guard = FileGuard.of(held);
    }
    FileGuard foreign = new FileGuard(guard.key(), guard.ownerId() + 1);
    PlacedFile notOurs = new PlacedFile(file, directory, Optional.of(foreign));
    assertThatThrownBy(() -> notOurs.hold(memory))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("ownerId");

    Files.move(Files.write(directory.resolve("new"), new byte[10]), file, REPLACE_EXISTING);

    PlacedFile replaced = new PlacedFile(file, directory, Optional.of(guard));
    assertThatThrownBy(() -> replaced.hold(memory)).isInstanceOf(TransportException.class);
  }

  @Test
  void windowOpensOverTheTailOfAFile(@TempDir Path directory) throws Exception {
    int page = memory.pageBytes();
    Path file = Files.write(directory.resolve("map.data"), new byte[2 * page + 1]);
    FileWindows windows = new FileWindows(memory, budget);
    try (FileWindow window = windows.open(domain, PlacedFile.of(file), page, page + 1)) {
      assertThat(window.bytes()).isEqualTo(2L * page);
      assertThat(window.addressOf(2L * page, 1)).isEqualTo(window.address() + page);
    }
    assertThat(windows.support(directory).orElseThrow().mode())
        .isEqualTo(WindowSupport.Mode.READ_ONLY);
  }
}
