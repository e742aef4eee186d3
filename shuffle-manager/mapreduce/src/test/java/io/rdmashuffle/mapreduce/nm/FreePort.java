package io.rdmashuffle.mapreduce.nm;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A port to listen on again after a restart: below those that the kernel gives to clients, which
 * might take it meanwhile.
 */
final class FreePort {
  private FreePort() {}

  static int find() throws IOException {
    IOException last = null;
    for (int tries = 0; tries < 100; tries++) {
      int port = ThreadLocalRandom.current().nextInt(15_000, 30_000);
      try (ServerSocket free = new ServerSocket(port)) {
        return free.getLocalPort();
      } catch (IOException e) {
        last = e;
      }
    }
    throw last;
  }
}
