package io.rdmashuffle.transport.verbs;

import java.net.InetAddress;

/**
 * A set of verbs libraries loaded into this process: the system's, the software adapter's, or a
 * fake. Any thread. Closing it unloads nothing that is still open; close devices first.
 */
public interface VerbsProvider extends AutoCloseable {
  /** Memory that this provider's devices can register. */
  HostMemory hostMemory();

  /**
   * Opens the adapter that the routing of {@code local} leads to (rdma_bind_addr(3) to it). The
   * caller closes the result.
   *
   * @param local an IPv4 address of this host
   * @throws VerbsException of kind CONFIG if no adapter owns the address
   */
  Device open(InetAddress local) throws VerbsException;

  /** The same for one user of several: closing it does nothing. */
  default VerbsProvider lent() {
    VerbsProvider lender = this;
    return new VerbsProvider() {
      @Override
      public HostMemory hostMemory() {
        return lender.hostMemory();
      }

      @Override
      public Device open(InetAddress local) throws VerbsException {
        return lender.open(local);
      }

      @Override
      public void close() {
        // the lender's
      }
    };
  }

  @Override
  void close();
}
