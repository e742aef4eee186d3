package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.server.ServerSettings;

/**
 * How a process's transport behaves.
 *
 * @param channel its connections
 * @param server how it serves blocks
 * @param client how it fetches blocks
 * @param memory what it may register besides the kernel's limit, which always holds
 */
public record TransportSettings(
    ChannelSettings channel,
    ServerSettings server,
    ClientSettings client,
    MemoryBudget.Bound memory) {
  /** With a bound of the engine's own on registered memory. */
  public static TransportSettings defaults(MemoryBudget.Bound memory) {
    return new TransportSettings(
        ChannelSettings.defaults(), ServerSettings.defaults(), ClientSettings.defaults(), memory);
  }
}
