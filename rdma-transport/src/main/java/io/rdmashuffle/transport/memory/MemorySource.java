package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;

/**
 * Where registered memory of one kind comes from. Lends what it names. Any thread.
 *
 * @param host the process's memory
 * @param domain the protection domain to register in
 * @param budget what bounds it
 * @param use how the budget counts it
 * @param access the rights of its regions
 */
public record MemorySource(
    HostMemory host,
    ProtectionDomain domain,
    MemoryBudget budget,
    MemoryBudget.Use use,
    Access access)
    implements SlabSource {
  @Override
  public String name() {
    return use.name();
  }

  /** Throws, with kind RETRY, if the budget, the kernel or the adapter has no room. */
  @Override
  public RegisteredMemory allocate(long bytes) throws TransportException {
    long wholePages = new Pages(host.pageBytes()).up(bytes);
    try (CloseStack undo = new CloseStack()) {
      budget.reserve(use, wholePages, undo);
      Mapping mapping = undo.push(host.allocate(wholePages));
      MemoryRegion region = undo.push(domain.register(mapping.address(), wholePages, access));
      return new RegisteredMemory(undo.handOver(), mapping, region);
    }
  }
}
