package io.rdmashuffle.transport.channel;

import java.net.InetSocketAddress;

/** Makes outbound connections. Progress thread only. */
public interface Dialer {
  /**
   * Resolves, connects and authenticates, all within the channel settings' connect time-out.
   *
   * @return a way to give up; the listener then hears onDialFailed, unless it heard before
   */
  Attempt dial(Target target, ReaderChannel.Listener listener);

  /**
   * @param peerName for messages
   * @param address the owner's RDMA address, resolved
   * @param credentialId what the owner knows the secret by
   * @param secret shared with the owner, from discovery
   */
  record Target(String peerName, InetSocketAddress address, long credentialId, byte[] secret) {}

  /** A connection in the making. */
  interface Attempt {
    void abandon();
  }
}
