package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;

/**
 * What a {@link ChannelLayer} is built on. All of it is lent, and outlives the layer.
 *
 * @param device the adapter
 * @param memory the process's memory
 * @param outboundDomain where queue pairs of outbound connections belong, and what is READ into
 * @param budget bounds the frames of all connections
 * @param counters what is counted
 * @param clock the time
 */
public record ChannelParts(
    Device device,
    HostMemory memory,
    ProtectionDomain outboundDomain,
    MemoryBudget budget,
    Counters counters,
    NanoClock clock) {}
