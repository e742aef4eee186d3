package io.rdmashuffle.transport.verbs;

import java.net.InetAddress;

/**
 * One adapter port, opened through its IPv4 address. Any thread. The caller of {@link
 * VerbsProvider#open} closes it, after everything made from it.
 */
public interface Device extends AutoCloseable {
  /** As in /sys/class/infiniband, or {@code soft0}. */
  String name();

  InetAddress address();

  DeviceAttributes attributes();

  /** The caller closes it after its regions and queue pairs. */
  ProtectionDomain allocateProtectionDomain() throws VerbsException;

  /**
   * Creates a completion queue with a completion channel of its own. The caller closes it after the
   * queue pairs that use it.
   *
   * @param entries room for that many completions not yet polled; more breaks the queue
   */
  CompletionQueue createCompletionQueue(int entries) throws VerbsException;

  /** Opens a channel for connection events. The caller closes it after its ids. */
  CmChannel openCmChannel() throws VerbsException;

  /**
   * Takes one pending asynchronous event (ibv_get_async_event(3)) or the news of the adapter's
   * removal, without waiting.
   *
   * @return null if there is none
   */
  AsyncEvent pollAsyncEvent() throws VerbsException;

  @Override
  void close();
}
