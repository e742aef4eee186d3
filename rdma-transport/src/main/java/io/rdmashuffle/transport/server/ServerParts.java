package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.Set;

/**
 * What the parts of one server share. All lent, except what only they use.
 *
 * @param slowPool for parts that queue by themselves; jobs of sessions go through the lanes
 * @param memory what may be registered
 * @param windowRoom shared by the windows of all domains
 * @param stagingShares divides the memory for copies among the domains
 * @param keyRoom divides the keys being looked up among the domains
 * @param forgotten files that nothing is granted out of any more; progress thread only
 */
record ServerParts(
    ProgressLoop loop,
    Workers slowPool,
    SlowLanes lanes,
    RdmaBlockServer.Memory memory,
    WindowRoom windowRoom,
    StagingShares stagingShares,
    KeyRoom keyRoom,
    BlockCatalog catalog,
    ServerSettings settings,
    Counters counters,
    Reports reports,
    Set<OutputFile> forgotten) {
  HostMemory hostMemory() {
    return memory.host();
  }

  MemoryBudget budget() {
    return memory.budget();
  }

  FileWindows fileWindows() {
    return memory.fileWindows();
  }

  /** Shape of the memory for copies, of each domain. */
  ChunkPoolSettings staging() {
    return memory.staging();
  }
}
