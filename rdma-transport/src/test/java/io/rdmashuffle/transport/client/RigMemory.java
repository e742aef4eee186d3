package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PostedRead;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.OrdinarySource;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Real pools of chunks, one registered with a fake adapter whose writes the test does itself. */
final class RigMemory implements AutoCloseable {
  final ChunkPool pool;
  final ChunkPool overflow;

  private final FakeFabric fabric = FakeFabric.immediate();
  private final RecordingMemory memory = new RecordingMemory(fabric.provider().hostMemory());
  private final Device device;
  private final ProtectionDomain domain;

  RigMemory(Setup setup, Workers slowPool, NanoClock clock) {
    try {
      device = fabric.provider().open(fabric.addAdapter());
      domain = device.allocateProtectionDomain();
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(new MemoryBudget.Bound(setup.budgetBytes(), "test", "none")), Map.of());
    MemorySource source =
        new MemorySource(memory, domain, budget, MemoryBudget.Use.READER_POOL, Access.LOCAL_WRITE);
    pool = new ChunkPool(source, setup.poolSettings(), slowPool, clock);
    overflow =
        new ChunkPool(
            new OrdinarySource(memory, "OVERFLOW"), setup.overflowSettings(), slowPool, clock);
  }

  /** As {@link RecordingMemory#failAfter}. */
  void failAfter(int times) {
    memory.failAfter(times);
  }

  /** Whether that has happened. */
  boolean hasFailed() {
    return memory.hasFailed();
  }

  /** The adapter writes what one READ brings. */
  void land(PostedRead posted) {
    ByteBuffer landing = memory.at(posted.localAddress(), posted.bytes());
    for (int i = 0; i < posted.bytes(); i++) {
      landing.put(Owner.byteAt(posted.remoteAddress() + i));
    }
  }

  @Override
  public void close() {
    pool.close();
    overflow.close();
    domain.close();
    device.close();
    fabric.assertNothingOpen();
  }
}
