package io.rdmashuffle.core.adapter;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** What an engine knows of its process once that runs; asked on the thread that opens. */
public interface AdapterHost {
  /** Of this process, for logs and names of threads, such as {@code executor 3}. */
  String processName();

  /**
   * The address that other processes of the engine reach this one by.
   *
   * @throws UnknownHostException if its name has none
   */
  InetAddress address() throws UnknownHostException;
}
