package io.rdmashuffle.transport.verbs;

/**
 * A protection domain: queue pairs reach only the regions of their own. Any thread. The caller of
 * {@link Device#allocateProtectionDomain} closes it, after its regions and queue pairs.
 */
public interface ProtectionDomain extends AutoCloseable {
  /**
   * Registers memory with the adapter: ibv_reg_mr(3). Pins the pages; slow; not for the progress
   * thread. The caller closes the region before the memory is unmapped.
   *
   * @throws VerbsException of kind RETRY for ENOMEM (the memlock limit, or the adapter is full), of
   *     kind CONFIG for EFAULT (a mapping that this kernel refuses)
   */
  MemoryRegion register(long address, long bytes, Access access) throws VerbsException;

  @Override
  void close();
}
