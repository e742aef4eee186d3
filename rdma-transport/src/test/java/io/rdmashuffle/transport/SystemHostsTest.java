package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.HostCommands;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Two hosts: the {@link RemoteOwner} of {@code -Drdmashuffle.test.owner=HOST:PORT} is READ, cut off
 * and, as the last thing, switched off. Needs root and machines of its own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SystemHostsTest {
  /** As the owner was told, which has 200 MiB. */
  private static final int BLOCK_BYTES = 4 << 20;

  private static final int BLOCKS = 50;

  private static final Duration WARM_UP = Duration.ofSeconds(180);
  private static final Duration RECOVERY = Duration.ofSeconds(180);
  private DisniProvider provider;
  private RemotePeer reader;

  @BeforeAll
  void open() throws Exception {
    TestDevice device = TestDevice.ofSystem();
    String[] owner = System.getProperty("rdmashuffle.test.owner").split(":");
    provider = device.load();
    reader =
        new RemotePeer(
            provider,
            device.address(),
            new InetSocketAddress(owner[0], Integer.parseInt(owner[1])),
            BLOCK_BYTES);
  }

  @AfterAll
  void close() {
    if (reader != null) {
      reader.close();
      assertThat(reader.transport().levels().values()).containsOnly(0L);
      assertThat(provider.openObjects()).isZero();
    }
    if (provider != null) {
      provider.close();
    }
  }

  @Test
  @Order(1)
  void everyByteOfALargeFileOfAnotherHostIsRead() throws Exception {
    reader.awaitRdma(WARM_UP);
    long before = reader.transport().counters().value(Counter.BYTES_READ);
    long start = System.nanoTime();
    for (int i = 0; i < BLOCKS; i += 2) {
      assertThat(reader.check(reader.fetch(i, i + 2))).isEqualTo(2);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long read = reader.transport().counters().value(Counter.BYTES_READ) - before;
    System.out.printf("HOSTS %d MiB in %.1f s, compared%n", read >> 20, seconds);
    assertThat(read).isEqualTo((long) BLOCKS * BLOCK_BYTES);
  }

  @Test
  @Order(2)
  void aFirewallUnderReadsCostsFallbacksAndRdmaResumes() throws Exception {
    HostCommands.run(
        "nft add table ip cut"
            + " && nft add chain ip cut in '{ type filter hook input priority 0; }'");
    List<Collected> running = startFetches();
    HostCommands.run("nft add rule ip cut in udp dport 4791 drop");
    try {
      checkAll(running);
      assertThat(reader.check(reader.fetch(0, 1))).isZero();
    } finally {
      HostCommands.run("nft delete table ip cut");
    }
    reader.awaitRdma(RECOVERY);
    assertThat(reader.check(reader.fetch(0, 1))).isEqualTo(1);
  }

  @Test
  @Order(3)
  void aHostThatIsSwitchedOffUnderReadsCostsFallbacks() throws Exception {
    List<Collected> running = startFetches();
    reader.powerOffOwner();
    checkAll(running);
    assertThat(reader.check(reader.fetch(0, 1))).isZero();
  }

  private List<Collected> startFetches() {
    List<Collected> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      running.add(reader.fetch(0, 4));
    }
    return running;
  }

  private void checkAll(List<Collected> fetches) throws Exception {
    for (Collected fetch : fetches) {
      reader.check(fetch);
    }
  }
}
