package io.rdmashuffle.transport;

import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;

/**
 * The adapter of one process, and how much may be registered with it.
 *
 * @param site where the process runs
 * @param role what its transport is for
 * @param settings how it behaves
 * @param plan what may be registered
 * @param device the adapter
 * @param outbound domain of the connections that this process dials, if it dials any
 * @param counters what is counted
 */
record OpenedAdapter(
    Transport.Site site,
    Role role,
    TransportSettings settings,
    MemoryPlan plan,
    Device device,
    ProtectionDomain outbound,
    Counters counters) {

  /**
   * Pushes the libraries, the adapter and its domain; if it throws, the stack's owner closes what
   * was pushed.
   */
  static OpenedAdapter open(
      Transport.Site site, Role role, TransportSettings settings, CloseStack undo)
      throws TransportException {
    undo.push(site.provider());
    MemoryPlan plan = MemoryPlan.of(site.provider().hostMemory(), settings, role);
    Device device = undo.push(site.provider().open(site.address()));
    ProtectionDomain outbound = undo.push(device.allocateProtectionDomain());
    return new OpenedAdapter(site, role, settings, plan, device, outbound, new Counters());
  }

  /** Whether the kernel's limit is what keeps the process from registering all that it wants. */
  boolean isShortOfMemlock() {
    return budget().limitBytes() < Math.min(plan.wantedBytes(), settings.memory().bytes());
  }

  MemoryBudget budget() {
    return plan.budget();
  }
}
