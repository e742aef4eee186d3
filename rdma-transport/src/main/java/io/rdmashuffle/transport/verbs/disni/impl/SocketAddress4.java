package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** A struct sockaddr_in (ip(7)) in native memory, from DiSNI's pool. Close it once. */
final class SocketAddress4 implements AutoCloseable {
  private static final short AF_INET = 2;
  private static final int BYTES = 28; // what DiSNI and the library hand to each other
  private static final int PORT_AT = 2;
  private static final int HOST_AT = 4;
  private final MemBuf memory = MemoryAllocation.getInstance().allocate(BYTES);

  static SocketAddress4 of(InetAddress host, int port) throws VerbsException {
    if (!(host instanceof Inet4Address)) {
      throw new VerbsException(
          Kind.CONFIG,
          (host == null ? "an unresolved name" : host.getHostAddress())
              + " is not an IPv4 address, which RDMA CM through DiSNI needs",
          0);
    }
    SocketAddress4 address = new SocketAddress4();
    ByteBuffer buffer = address.memory.getBuffer(); // in native order
    for (int i = 0; i < BYTES; i++) {
      buffer.put(i, (byte) 0);
    }
    buffer.putShort(0, AF_INET);
    buffer.put(PORT_AT, (byte) (port >>> 8));
    buffer.put(PORT_AT + 1, (byte) port);
    byte[] bytes = host.getAddress();
    for (int i = 0; i < bytes.length; i++) {
      buffer.put(HOST_AT + i, bytes[i]);
    }
    return address;
  }

  /** To be filled in by native code. */
  static SocketAddress4 empty() {
    return new SocketAddress4();
  }

  long pointer() {
    return memory.address();
  }

  InetSocketAddress value() {
    ByteBuffer buffer = memory.getBuffer();
    byte[] host = new byte[4];
    for (int i = 0; i < host.length; i++) {
      host[i] = buffer.get(HOST_AT + i);
    }
    int port = (buffer.get(PORT_AT) & 0xff) << 8 | (buffer.get(PORT_AT + 1) & 0xff);
    try {
      return new InetSocketAddress(InetAddress.getByAddress(host), port);
    } catch (UnknownHostException e) {
      throw new AssertionError("four bytes make an address", e);
    }
  }

  @Override
  public void close() {
    memory.free();
  }
}
