package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Transports on the software adapter, through DiSNI and native code. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SoftTransportTest extends TransportContract {
  private DisniProvider soft;

  @BeforeAll
  void load() {
    soft = SoftAdapter.load();
  }

  @AfterAll
  void unload() {
    if (soft != null) {
      soft.close();
    }
  }

  @Override
  protected VerbsProvider provider() {
    return soft;
  }

  @Override
  protected InetAddress address() throws Exception {
    return InetAddress.getByName("127.0.0.1");
  }

  @Override
  protected void assertNothingOpen() {
    assertThat(soft.openObjects()).isZero();
  }

  /** What a child process would take from its parent is copied while the child lives. */
  @Test
  void childProcessesStartedDuringReadsChangeNoByte() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(new Random(8).ints(300, 1, 200_000).toArray());
    List<Collected> fetches = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      fetches.add(reader.fetch(owner, keys));
      java.lang.Process child = new ProcessBuilder("/bin/true").start();
      assertThat(child.waitFor()).isZero();
    }
    for (Collected fetch : fetches) {
      assertThat(fetch.await().check(owner.outputs).reasons()).isEmpty();
    }
  }

  /** With too little memory. */
  @Nested
  final class Scarce extends ScarceMemoryContract {
    @Override
    protected VerbsProvider provider() {
      return soft;
    }

    @Override
    protected InetAddress address() throws Exception {
      return SoftTransportTest.this.address();
    }

    @Override
    protected void assertNothingOpen() {
      SoftTransportTest.this.assertNothingOpen();
    }

    @Override
    protected VerbsProvider provider(long memlockBytes) {
      return new LimitedProvider(soft, memlockBytes);
    }
  }
}
