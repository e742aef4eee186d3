package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.HostCommands;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * What only a kernel does to a transport: each time, every block comes as it is or falls back in
 * time, and RDMA resumes once it can. Needs root and a machine of its own ({@link
 * TestDevice#ofSystem}): it pulls the cable, which is the other end of a pair of interfaces.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemFaultsTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int BLOCKS = 8;
  private static final Duration WARM_UP = Duration.ofSeconds(120);
  private static final Duration RECOVERY = Duration.ofSeconds(120);
  @TempDir private Path folder;
  private TestDevice device;
  private DisniProvider provider;
  private OwnerProcess owner;
  private RemotePeer reader;

  @BeforeAll
  void load() throws Exception {
    device = TestDevice.ofSystem();
    provider = device.load();
  }

  private void open() throws Exception {
    owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
    reader = new RemotePeer(provider, device.address(), owner.commands(), BLOCK_BYTES);
    reader.awaitRdma(WARM_UP);
  }

  @AfterEach
  void close() {
    if (owner != null) {
      owner.kill();
    }
    if (reader != null) {
      reader.close();
      assertThat(reader.transport().levels().values()).containsOnly(0L);
    }
    assertThat(provider.openObjects()).isZero();
  }

  @AfterAll
  void unload() {
    if (provider != null) {
      provider.close();
    }
  }

  private List<Collected> startFetches() {
    List<Collected> running = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      running.add(reader.fetch(0, BLOCKS));
    }
    return running;
  }

  private int checkAll(List<Collected> fetches) throws Exception {
    int arrived = 0;
    for (Collected fetch : fetches) {
      arrived += reader.check(fetch);
    }
    return arrived;
  }

  @Test
  void anOwnerKilledUnderReadsCostsFallbacksAndTheNextOneIsRead() throws Exception {
    open();
    List<Collected> running = startFetches();
    reader.check(running.remove(0));
    owner.kill();
    checkAll(running);
    assertThat(reader.check(reader.fetch(0, BLOCKS))).isZero();

    owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
    reader.follow(owner.commands());
    reader.awaitRdma(RECOVERY);
    assertThat(reader.check(reader.fetch(0, BLOCKS))).isEqualTo(BLOCKS);
  }

  @Test
  void aLinkThatGoesDownUnderReadsCostsFallbacksAndRdmaResumes() throws Exception {
    open();
    List<Collected> running = startFetches();
    reader.check(running.remove(0));
    HostCommands.run("ip link set cable down");
    try {
      checkAll(running);
      assertThat(reader.check(reader.fetch(0, BLOCKS))).isZero();
    } finally {
      HostCommands.run("ip link set cable up");
    }
    reader.awaitRdma(RECOVERY);
    assertThat(reader.check(reader.fetch(0, BLOCKS))).isEqualTo(BLOCKS);
  }
}
