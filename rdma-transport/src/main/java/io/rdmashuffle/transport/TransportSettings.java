package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.OverflowLimit;
import io.rdmashuffle.transport.server.ServerSettings;

/**
 * How a process's transport behaves.
 *
 * @param channel its connections
 * @param server how it serves blocks
 * @param client how it fetches blocks
 * @param memory what it may register besides the kernel's limit, which always holds
 * @param overflow what its blocks may take beside registered memory
 */
public record TransportSettings(
    ChannelSettings channel,
    ServerSettings server,
    ClientSettings client,
    MemoryBudget.Bound memory,
    OverflowLimit overflow) {
  /**
   * How much of blocks a process that only reads holds at a time, in place and in overflow memory,
   * whatever its memlock limit: less what the ends of chunks may waste.
   */
  public long readerHoldsBytes() {
    long pool = Math.min(client.poolBytes(), memory.bytes() / 100 * Role.READER.poolPercent());
    long inPlace = pool / 100 * (100 - client.transitShare());
    return (inPlace + overflow.leastBytes()) / 20 * 19;
  }

  /** With a bound of the engine's own on registered memory, and overflow memory as standalone. */
  public static TransportSettings defaults(MemoryBudget.Bound memory) {
    return new TransportSettings(
        ChannelSettings.defaults(),
        ServerSettings.defaults(),
        ClientSettings.defaults(),
        memory,
        OverflowLimit.STANDALONE);
  }
}
