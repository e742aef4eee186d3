package io.rdmashuffle.core.config;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.device.DeviceSetting;
import io.rdmashuffle.transport.server.ServerSettings;

/**
 * All settings of one process, checked, in the units the transport wants.
 *
 * @param mode whether to use RDMA
 * @param device which adapter or port
 * @param bindNetwork what the address to listen on must be in
 * @param allowUnencrypted whether plain text may cross a network that is to be encrypted
 * @param memory what may be registered
 * @param channel how connections behave
 * @param client how blocks are fetched
 * @param server how blocks are served
 * @param fallbackThreads threads that call the engine's own shuffle
 */
public record RdmaSettings(
    Mode mode,
    DeviceSetting device,
    BindNetwork bindNetwork,
    boolean allowUnencrypted,
    MemorySettings memory,
    ChannelSettings channel,
    ClientSettings client,
    ServerSettings server,
    int fallbackThreads) {

  /**
   * @throws ConfigException if a value is outside its range, or two contradict each other
   */
  public static RdmaSettings from(ConfigReader config) {
    new Consistency(config).check();
    return new RdmaSettings(
        config.read(RdmaOptions.MODE),
        config.read(RdmaOptions.DEVICE),
        config.read(RdmaOptions.BIND_ADDRESS),
        config.read(RdmaOptions.ALLOW_UNENCRYPTED),
        new MemorySettings(
            config.read(RdmaOptions.REGISTERED_MAX).bytes(),
            config.read(RdmaOptions.OVERHEAD_SHARE)),
        channel(config),
        client(config),
        server(config),
        config.read(RdmaOptions.FALLBACK_THREADS));
  }

  private static ChannelSettings channel(ConfigReader config) {
    return new ChannelSettings(
        config.read(RdmaOptions.REQUESTS_IN_FLIGHT),
        config.read(RdmaOptions.READS_IN_FLIGHT),
        config.read(RdmaOptions.CONNECTIONS_MAX),
        config.read(RdmaOptions.CONNECT_TIMEOUT),
        config.read(RdmaOptions.REQUEST_TIMEOUT),
        config.read(RdmaOptions.KEEP_ALIVE),
        config.read(RdmaOptions.IDLE_TIMEOUT),
        config.read(RdmaOptions.SPIN));
  }

  private static ClientSettings client(ConfigReader config) {
    return new ClientSettings(
        config.read(RdmaOptions.POOL_SIZE).bytes(),
        config.read(RdmaOptions.POOL_CHUNK).intBytes(),
        config.read(RdmaOptions.POOL_TRANSIT),
        config.read(RdmaOptions.READ_SIZE).intBytes(),
        config.read(RdmaOptions.READ_WINDOW).bytes(),
        config.read(RdmaOptions.FETCH_TIMEOUT),
        config.read(RdmaOptions.DISCOVERY_TIMEOUT),
        config.read(RdmaOptions.MEMORY_TIMEOUT),
        config.read(RdmaOptions.BREAKER_MIN),
        config.read(RdmaOptions.BREAKER_MAX));
  }

  private static ServerSettings server(ConfigReader config) {
    return new ServerSettings(
        config.read(RdmaOptions.INLINE_MAX).intBytes(),
        config.read(RdmaOptions.WINDOW_SIZE).bytes(),
        config.read(RdmaOptions.STAGING_BELOW).intBytes(),
        config.read(RdmaOptions.STAGING_SIZE).bytes(),
        config.read(RdmaOptions.LOCATE_TIMEOUT),
        config.read(RdmaOptions.LEASE_REVOKE_TIMEOUT));
  }

  /** Refuses values that are each in range but cannot be obeyed together. */
  private record Consistency(ConfigReader config) {
    void check() {
      atMost(RdmaOptions.BREAKER_MIN, RdmaOptions.BREAKER_MAX);
      atMost(RdmaOptions.STAGING_BELOW, RdmaOptions.STAGING_SIZE);
      atMost(RdmaOptions.LOCATE_TIMEOUT, RdmaOptions.REQUEST_TIMEOUT);
    }

    private <T extends Comparable<T>> void atMost(ConfigOption<T> small, ConfigOption<T> large) {
      if (config.read(small).compareTo(config.read(large)) > 0) {
        throw new ConfigException(
            shown(small) + " must not be above " + shown(large) + ": change one of them");
      }
    }

    private <T extends Comparable<T>> String shown(ConfigOption<T> option) {
      return config.fullKey(option) + "=" + option.text(config.read(option));
    }
  }
}
