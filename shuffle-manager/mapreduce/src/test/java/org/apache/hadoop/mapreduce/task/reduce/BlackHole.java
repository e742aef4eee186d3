package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A port of the software adapter that takes what is sent to it and never answers. */
final class BlackHole implements AutoCloseable {
  /** What tells the adapter's TCP port from that of RDMA CM: see README.md of softhca. */
  private static final int SOFT_PORT_BIT = 0x4000;

  private static final int CONNECT_MS = 200;

  private final ServerSocket server;
  private final List<Socket> sockets = new ArrayList<>();
  private final AtomicInteger connected = new AtomicInteger();

  /** How it keeps silent. */
  enum Kind {
    /** As behind a firewall that drops packets. */
    DROPS,
    /** As a process that is stopped. */
    ACCEPTS
  }

  private BlackHole(ServerSocket server) {
    this.server = server;
  }

  static BlackHole open(Kind kind) throws IOException {
    BlackHole hole = new BlackHole(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
    if (kind == Kind.DROPS) {
      hole.fillBacklog();
    } else {
      Thread acceptor = new Thread(hole::accept, "test-black-hole");
      acceptor.setDaemon(true);
      acceptor.start();
    }
    return hole;
  }

  /** Once no more connections fit, the kernel drops requests for others. */
  private void fillBacklog() throws IOException {
    while (true) {
      Socket socket = new Socket();
      sockets.add(socket);
      try {
        socket.connect(server.getLocalSocketAddress(), CONNECT_MS);
      } catch (SocketTimeoutException full) {
        return;
      }
    }
  }

  private void accept() {
    List<Socket> accepted = new ArrayList<>();
    try {
      while (true) {
        accepted.add(server.accept());
        connected.incrementAndGet();
      }
    } catch (IOException closed) {
      closeAll(accepted);
    }
  }

  /** For RDMA CM. */
  int port() {
    return server.getLocalPort() ^ SOFT_PORT_BIT;
  }

  /** How many connections were accepted. */
  int connected() {
    return connected.get();
  }

  @Override
  public void close() throws IOException {
    closeAll(sockets);
    server.close();
  }

  private static void closeAll(List<Socket> sockets) {
    for (Socket socket : sockets) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
