package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.RegisteredMemory;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** One process of a stepped fabric: its device, its domain, and a channel core without threads. */
final class Node implements AutoCloseable {
  final Device device;
  final ProtectionDomain domain;
  final Counters counters = new Counters();
  final MemoryBudget budget;
  final ChannelCore core;
  final Queue<Work> slow = new ArrayDeque<>();
  final TestCredentials credentials;
  final RecordingAcceptor acceptor = new RecordingAcceptor();
  private final VerbsProvider provider;
  private int port;
  private boolean slowPoolStuck;

  Node(VerbsProvider provider, InetAddress address, NanoClock clock, ChannelSettings settings)
      throws TransportException {
    this.provider = provider;
    device = provider.open(address);
    domain = device.allocateProtectionDomain();
    budget = MemoryBudget.of(List.of(new MemoryBudget.Bound(256 << 20, "test", "none")), Map.of());
    credentials = new TestCredentials(domain);
    ChannelParts parts =
        new ChannelParts(device, provider.hostMemory(), domain, budget, counters, clock);
    core = ChannelCore.open(parts, settings, slow::add, Gate.OPEN);
  }

  void listen() throws TransportException {
    port = core.listen(0, credentials, acceptor);
  }

  /** The way to this node with one of its credentials. */
  Dialer.Target target(long credentialId, byte[] secret) {
    return new Dialer.Target(
        device.name(), new InetSocketAddress(device.address(), port), credentialId, secret);
  }

  RegisteredMemory register(int bytes, Access access) throws TransportException {
    return new MemorySource(provider.hostMemory(), domain, budget, MemoryBudget.Use.STAGING, access)
        .allocate(bytes);
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  /** From now on nothing runs on the slow pool, until {@link #freeSlowPool}. */
  void stickSlowPool() {
    slowPoolStuck = true;
  }

  void freeSlowPool() {
    slowPoolStuck = false;
  }

  /** One round of every thread. Returns whether there was anything to do. */
  boolean step() {
    boolean worked = core.cm().runOnce(0);
    Work task = slowPoolStuck ? null : slow.poll();
    if (task != null) {
      assertThat(task.perform()).isNull();
    }
    return worked | core.loop().runOnce() | task != null;
  }

  @Override
  public void close() {
    core.close();
    domain.close();
    device.close();
  }
}
