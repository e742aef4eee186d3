package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.Dialer;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.memory.ChunkPool;
import java.util.random.RandomGenerator;

/**
 * What a client is built from. All of it is lent and outlives the client.
 *
 * @param loop the progress thread that confines the client's state
 * @param dialer makes its connections
 * @param discovery finds out how peers are reached
 * @param pool the registered memory that blocks land in
 * @param overflow the ordinary memory that blocks are copied to when the pool has no room
 * @param threads for whatever must not run on the progress thread
 * @param counters what it counts into
 * @param random spreads dials and pauses; used on the progress thread only
 * @param settings how it fetches
 * @param channelSettings of the connections the dialer makes
 */
public record ClientParts(
    ProgressLoop loop,
    Dialer dialer,
    Discovery discovery,
    ChunkPool pool,
    ChunkPool overflow,
    ClientThreads threads,
    Counters counters,
    RandomGenerator random,
    ClientSettings settings,
    ChannelSettings channelSettings) {}
