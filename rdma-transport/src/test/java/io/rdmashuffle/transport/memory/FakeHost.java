package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.memory.MemoryBudget.Bound;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.util.List;
import java.util.Map;

/** A process with one fake adapter and a budget, for the tests of this package. */
final class FakeHost implements AutoCloseable {
  final FakeFabric fabric = FakeFabric.immediate();
  final MemoryBudget budget;
  final HostMemory memory;
  final ProtectionDomain domain;
  private final CloseStack parts = new CloseStack();

  FakeHost(long budgetBytes) throws VerbsException {
    this(budgetBytes, 4096);
  }

  FakeHost(long budgetBytes, int pageBytes) throws VerbsException {
    budget = MemoryBudget.of(List.of(new Bound(budgetBytes, "test", "nothing")), Map.of());
    VerbsProvider process = fabric.newProcess(Long.MAX_VALUE, pageBytes);
    memory = process.hostMemory();
    domain = parts.push(parts.push(process.open(fabric.addAdapter())).allocateProtectionDomain());
  }

  MemorySource source(Use use, Access access) {
    return new MemorySource(memory, domain, budget, use, access);
  }

  /** Fails if anything is still registered, mapped or reserved. */
  @Override
  public void close() {
    parts.close();
    fabric.assertNothingOpen();
    if (budget.usedBytes() != 0) {
      throw new AssertionError(budget.usedBytes() + " bytes still reserved");
    }
  }
}
