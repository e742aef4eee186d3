package io.rdmashuffle.mapreduce;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.core.config.ConfigReader;

/**
 * Where NodeManagers listen for RDMA. Hadoop tells reducers host and port of HTTP and nothing else,
 * so both sides derive the port by the same rule.
 *
 * @param fixedPort 0 for none
 * @param offset from the HTTP port, where there is no fixed one
 */
public record PortRule(int fixedPort, int offset) {
  private static final int HIGHEST_PORT = 65_535;

  static PortRule from(ConfigReader config) {
    return new PortRule(
        config.read(MapReduceOptions.PORT), config.read(MapReduceOptions.PORT_OFFSET));
  }

  /**
   * @param httpPort of the NodeManager's shuffle
   * @throws ConfigException if it would be beyond the last port
   */
  public int portFor(int httpPort) {
    int port = fixedPort != 0 ? fixedPort : httpPort + offset;
    if (port > HIGHEST_PORT) {
      throw new ConfigException(
          MapReduceOptions.TASK_PREFIX
              + MapReduceOptions.PORT_OFFSET.key()
              + "="
              + offset
              + " leads from HTTP port "
              + httpPort
              + " beyond "
              + HIGHEST_PORT
              + "; lower it, or set "
              + MapReduceOptions.TASK_PREFIX
              + MapReduceOptions.PORT.key());
    }
    return port;
  }
}
