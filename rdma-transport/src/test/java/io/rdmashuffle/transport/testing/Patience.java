package io.rdmashuffle.transport.testing;

import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.OverflowLimit;
import io.rdmashuffle.transport.server.ServerSettings;
import java.time.Duration;

/**
 * Deadlines that no test is about, for hosts that are slow by nature: in an emulated machine the
 * first connection alone takes a JVM seconds. {@code -Drdmashuffle.test.patience=N} multiplies
 * them.
 */
public final class Patience {
  private static final int FACTOR = Integer.getInteger("rdmashuffle.test.patience", 1);

  private Patience() {}

  /**
   * @param usual what is enough on an ordinary host
   */
  public static Duration of(Duration usual) {
    return usual.multipliedBy(FACTOR);
  }

  public static Duration seconds(int usual) {
    return of(Duration.ofSeconds(usual));
  }

  /** The defaults, with that patience, but for keep-alives: leases return at their pace. */
  public static ChannelSettings channelDefaults() {
    ChannelSettings usual = ChannelSettings.defaults();
    return new ChannelSettings(
        usual.requestsInFlight(),
        usual.readsInFlight(),
        usual.maxConnections(),
        of(usual.connectTimeout()),
        of(usual.requestTimeout()),
        usual.keepAlive(),
        usual.idleTimeout(),
        usual.spin());
  }

  /** The defaults, with that patience. */
  public static TransportSettings transportDefaults(MemoryBudget.Bound memory) {
    return new TransportSettings(
        channelDefaults(), serverDefaults(), clientDefaults(), memory, OverflowLimit.STANDALONE);
  }

  private static ClientSettings clientDefaults() {
    ClientSettings usual = ClientSettings.defaults();
    return new ClientSettings(
        usual.poolBytes(),
        usual.chunkBytes(),
        usual.transitShare(),
        usual.readBytes(),
        usual.windowBytes(),
        of(usual.fetchTimeout()),
        of(usual.discoveryTimeout()),
        seconds(5), // registering a slab takes a loaded machine that is emulated seconds
        usual.breakerMinimum(),
        usual.breakerMaximum());
  }

  private static ServerSettings serverDefaults() {
    ServerSettings usual = ServerSettings.defaults();
    return new ServerSettings(
        usual.inlineBytes(),
        usual.windowBytes(),
        usual.stageBelowBytes(),
        usual.stagingBytes() * FACTOR, // more is under way at a time
        of(usual.locateTimeout()),
        of(usual.revokeAfter()));
  }
}
