package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * What the parts of one server share. All lent, except what only they use.
 *
 * @param slowPool for parts that queue by themselves; jobs of sessions go through the lanes
 * @param staging shape of the memory for copies, of each domain
 * @param forgotten files that nothing is granted out of any more; progress thread only
 */
record ServerParts(
    ProgressLoop loop,
    Executor slowPool,
    SlowLanes lanes,
    HostMemory hostMemory,
    MemoryBudget budget,
    FileWindows fileWindows,
    ChunkPoolSettings staging,
    BlockCatalog catalog,
    ServerSettings settings,
    Counters counters,
    Reports reports,
    Set<OutputFile> forgotten) {}
