package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PostedRead;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** A real pool of chunks, registered with a fake adapter whose writes the test does itself. */
final class RigMemory implements AutoCloseable {
  final ChunkPool pool;

  private final FakeFabric fabric = FakeFabric.immediate();
  private final RecordingMemory memory = new RecordingMemory(fabric.provider().hostMemory());
  private final Device device;
  private final ProtectionDomain domain;

  RigMemory(ChunkPoolSettings settings, long budgetBytes, Executor slowPool, NanoClock clock) {
    try {
      device = fabric.provider().open(fabric.addAdapter());
      domain = device.allocateProtectionDomain();
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
    MemoryBudget budget =
        MemoryBudget.of(List.of(new MemoryBudget.Bound(budgetBytes, "test", "none")), Map.of());
    MemorySource source =
        new MemorySource(memory, domain, budget, MemoryBudget.Use.READER_POOL, Access.LOCAL_WRITE);
    pool = new ChunkPool(source, settings, slowPool, clock);
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
    domain.close();
    device.close();
    fabric.assertNothingOpen();
  }
}
