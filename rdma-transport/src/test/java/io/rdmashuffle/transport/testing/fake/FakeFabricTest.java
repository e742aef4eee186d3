package io.rdmashuffle.transport.testing.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.testing.ManualClock;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The rules the fake keeps beyond what the contract of all implementations asks for. */
class FakeFabricTest {
  private final ManualClock clock = new ManualClock();
  private FakeFabric fabric = FakeFabric.stepped(clock);

  @AfterEach
  void nothingStaysOpen() {
    fabric.assertNothingOpen();
  }

  @Test
  void readMovesBytesOnlyWhenStepped() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      link.owner.bytes().putLong(8, 0x1122334455667788L);
      link.read(7, 8, 8);
      assertThat(link.reader.poll().size()).isZero();
      assertThat(link.reader.bytes().getLong(8)).isZero();

      assertThat(fabric.step()).isTrue();

      assertThat(link.reader.bytes().getLong(8)).isEqualTo(0x1122334455667788L);
      WorkCompletions done = link.reader.poll();
      assertThat(done.size()).isOne();
      assertThat(done.wrId(0)).isEqualTo(7);
      assertThat(done.qpNumber(0)).isEqualTo(link.reader.qp.number());
      assertThat(fabric.step()).isFalse();
    }
  }

  @Test
  void immediateFabricWorksInsideTheCall() throws Exception {
    fabric = FakeFabric.immediate();
    try (FakeLink link = FakeLink.on(fabric)) {
      link.owner.bytes().put(0, (byte) 9);
      link.read(1, 0, 1);
      assertThat(link.reader.bytes().get(0)).isEqualTo((byte) 9);
      assertThat(link.reader.poll().status(0)).isEqualTo(WcStatus.SUCCESS);
    }
  }

  @Test
  void onlyTheLastReadOfAChainCompletesAndEarlierOnesHoldTheirSlots() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      ReadChain chain = new ReadChain(8);
      for (int i = 0; i < 8; i++) {
        link.add(chain, 0, 4);
        chain.stamp(i, i);
      }
      link.reader.qp.postReads(chain);
      assertThatThrownBy(() -> link.read(9, 0, 1)).hasMessageContaining("8 of 8 in use");
      fabric.runUntilIdle();
      assertThatThrownBy(() -> link.read(9, 0, 1)).hasMessageContaining("8 of 8 in use");
      WorkCompletions done = link.reader.poll();
      assertThat(done.size()).isOne();
      assertThat(done.wrId(0)).isEqualTo(7);
      link.read(9, 0, 1);
    }
  }

  @Test
  void failedUnsignalledReadCompletesAndTheRestFlushes() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      ReadChain chain = new ReadChain(2);
      link.add(chain, FakeLink.BYTES - 1, 2);
      link.add(chain, 0, 1);
      chain.stamp(0, 1);
      chain.stamp(1, 2);
      link.reader.qp.postReads(chain);
      fabric.runUntilIdle();
      WorkCompletions done = link.reader.poll();
      assertThat(done.size()).isEqualTo(2);
      assertThat(done.wrId(0)).isEqualTo(1);
      assertThat(done.status(0)).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThat(done.status(1)).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  void readBehindTheOwnersRegionFails() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      MemoryRegion region = link.owner.region;
      assertThat(link.statusOfRead(region.address() + FakeLink.BYTES - 1, region.rkey()))
          .isEqualTo(WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void localKeyIsNoRemoteKey() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      assertThat(link.statusOfRead(link.owner.region.address(), link.owner.region.lkey()))
          .isEqualTo(WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void readOfTheOwnersRegionInAnotherDomainFails() throws Exception {
    try (FakeLink link = FakeLink.on(fabric);
        var other = link.owner.device.allocateProtectionDomain();
        MemoryRegion region =
            other.register(link.owner.memory.address(), 4096, Access.REMOTE_READ)) {
      assertThat(link.statusOfRead(region.address(), region.rkey()))
          .isEqualTo(WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void heldReadLandsWhenReleasedEvenAfterTheQueuePairFailed() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      link.owner.bytes().put(0, (byte) 5);
      Hold hold = fabric.faults().reads().hold(1);
      link.read(1, 0, 1);
      fabric.runUntilIdle();
      link.reader.qp.toError();
      assertThat(link.reader.poll().size()).isZero();
      assertThat(hold.count()).isOne();

      hold.release();

      assertThat(link.reader.bytes().get(0)).isEqualTo((byte) 5);
      assertThat(link.reader.poll().status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  void heldReadOfADestroyedQueuePairWritesNothing() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      link.owner.bytes().put(0, (byte) 5);
      Hold hold = fabric.faults().reads().hold(1);
      link.read(1, 0, 1);
      fabric.runUntilIdle();
      link.reader.qp.close();
      hold.release();
      fabric.runUntilIdle();
      assertThat(link.reader.bytes().get(0)).isZero();
      assertThat(link.reader.poll().size()).isZero();
    }
  }

  @Test
  void delayedReadWaitsForTheClock() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.faults().readsFrom(link.reader.device.address()).delay(2, 1000);
      link.read(1, 0, 1);
      link.read(2, 0, 1);
      link.read(3, 0, 1);
      fabric.runUntilIdle();
      assertThat(link.reader.poll().size()).isOne();
      clock.advanceNs(999);
      fabric.runUntilIdle();
      assertThat(link.reader.poll().size()).isZero();
      clock.advanceNs(1);
      fabric.runUntilIdle();
      assertThat(link.reader.poll().size()).isEqualTo(2);
    }
  }

  @Test
  void delayEndsByItselfOnAnImmediateFabric() throws Exception {
    fabric = FakeFabric.immediate();
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.faults().reads().delay(1, 5_000_000);
      link.read(1, 0, 1);
      link.reader.completions.arm();
      assertThat(link.reader.poll().size()).isZero();
      link.reader.completions.await(10_000_000_000L);
      assertThat(link.reader.poll().size()).isOne();
    }
  }

  @Test
  void failedAndCorruptedReadsAreTheOnesAskedFor() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.faults().reads().corrupt(2);
      fabric.faults().reads().fail(3, WcStatus.RETRY_EXC_ERR);
      for (int i = 0; i < 3; i++) {
        link.read(i, i * 16, 16);
      }
      fabric.runUntilIdle();
      WorkCompletions done = link.reader.poll();
      assertThat(List.of(done.status(0), done.status(1), done.status(2)))
          .containsExactly(WcStatus.SUCCESS, WcStatus.SUCCESS, WcStatus.RETRY_EXC_ERR);
      assertThat(link.reader.bytes().slice(0, 16)).isEqualTo(ByteBuffer.allocate(16));
      assertThat(link.reader.bytes().slice(16, 16)).isNotEqualTo(ByteBuffer.allocate(16));
    }
  }

  @Test
  void shuffledQueuePairsCompleteOutOfOrderButEachInOrder() throws Exception {
    List<Long> order = new ArrayList<>();
    fabric.shuffleQueuePairs(3);
    try (FakeLink one = FakeLink.on(fabric);
        FakeLink two = FakeLink.on(fabric)) {
      for (int i = 0; i < 4; i++) {
        one.read(i, 0, 1);
        two.read(10 + i, 0, 1);
      }
      while (fabric.step()) {
        for (FakeLink link : List.of(one, two)) {
          WorkCompletions done = link.reader.poll();
          for (int i = 0; i < done.size(); i++) {
            order.add(done.wrId(i));
          }
        }
      }
    }
    assertThat(order).containsSubsequence(0L, 1L, 2L, 3L).containsSubsequence(10L, 11L, 12L, 13L);
    assertThat(order).isNotEqualTo(List.of(0L, 10L, 1L, 11L, 2L, 12L, 3L, 13L));
  }

  @Test
  void sendWaitsForAReceiveAndIsCounted() throws Exception {
    FakeLink link = new FakeLink(fabric, FakeFabric.DEFAULT_ATTRIBUTES, Access.LOCAL_WRITE);
    try (link) {
      link.owner.bytes().put(0, (byte) 77);
      link.owner.qp.postSend(1, link.owner.region.address(), 3, link.owner.region.lkey());
      fabric.runUntilIdle();
      assertThat(link.owner.poll().size()).isZero();
      assertThat(fabric.receiverNotReadyCount()).isOne();

      link.reader.qp.postReceive(2, link.reader.region.address(), 16, link.reader.region.lkey());
      fabric.runUntilIdle();

      WorkCompletions received = link.reader.poll();
      assertThat(received.wrId(0)).isEqualTo(2);
      assertThat(received.bytes(0)).isEqualTo(3);
      assertThat(link.reader.bytes().get(0)).isEqualTo((byte) 77);
      assertThat(link.owner.poll().status(0)).isEqualTo(WcStatus.SUCCESS);
    }
  }

  @Test
  void senderThatWaitsForAReceiveFailsWithItsPeer() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      link.owner.qp.postSend(1, link.owner.region.address(), 3, link.owner.region.lkey());
      fabric.runUntilIdle();
      link.reader.qp.close();
      fabric.runUntilIdle();
      assertThat(link.owner.poll().status(0)).isEqualTo(WcStatus.RETRY_EXC_ERR);
    }
  }

  @Test
  void iwarpDemandsRemoteWriteOnSinksAndTheActiveSideFirst() throws Exception {
    DeviceAttributes iwarp = new DeviceAttributes(16, 64, 64, 64, 1 << 30, 4, 16, 16, true);
    try (FakeLink wrong = new FakeLink(fabric, iwarp, Access.LOCAL_WRITE);
        FakeLink right = new FakeLink(fabric, iwarp, Access.LOCAL_AND_REMOTE_WRITE);
        FakeLink early = new FakeLink(fabric, iwarp, Access.LOCAL_AND_REMOTE_WRITE)) {
      wrong.read(1, 0, 1);
      right.read(2, 0, 1);
      early.owner.qp.postSend(3, early.owner.region.address(), 1, early.owner.region.lkey());
      fabric.runUntilIdle();
      assertThat(wrong.reader.poll().status(0)).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThat(right.reader.poll().status(0)).isEqualTo(WcStatus.SUCCESS);
      assertThat(early.owner.poll().status(0)).isEqualTo(WcStatus.LOC_QP_OP_ERR);
    }
  }

  @Test
  void overflowBreaksTheCompletionQueueAndItsQueuePairs() throws Exception {
    try (FakeLink link = FakeLink.on(fabric);
        var small = link.reader.device.createCompletionQueue(1);
        CmId id = link.reader.events.createId()) {
      id.resolveAddress(link.listenerAddress(), 1);
      fabric.runUntilIdle();
      QueuePair qp = id.createQueuePair(link.reader.domain, small, new QueuePairCapacity(2, 2));
      qp.postReceive(1, link.reader.region.address(), 16, link.reader.region.lkey());
      qp.postReceive(2, link.reader.region.address(), 16, link.reader.region.lkey());
      qp.toError();
      assertThat(link.reader.device.pollAsyncEvent().type()).isEqualTo(AsyncEvent.Type.CQ_ERROR);
      assertThatThrownBy(() -> small.poll(new WorkCompletions(4))).hasMessageContaining("overflow");
    }
  }

  @Test
  void brokenQueuePairFlushesAndReports() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      link.reader.qp.postReceive(4, link.reader.region.address(), 16, link.reader.region.lkey());
      fabric.breakQueuePair(link.reader.qp.number());
      assertThat(link.reader.poll().status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
      assertThat(link.reader.device.pollAsyncEvent().type()).isEqualTo(AsyncEvent.Type.QP_ERROR);
    }
  }

  @Test
  void cutCableFailsTraffic() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.portDown(link.owner.device.address());
      link.read(1, 0, 1);
      fabric.runUntilIdle();
      assertThat(link.reader.poll().status(0)).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertThat(link.owner.device.pollAsyncEvent().type()).isEqualTo(AsyncEvent.Type.PORT_DOWN);
    }
  }

  @Test
  void connectFaultsActAsTheyAreCalled() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.faults().blackHole(link.owner.device.address());
      connectAgain(link, null, 0);
      fabric.faults().restore(link.owner.device.address());
      fabric.faults().makeUnreachable(link.owner.device.address());
      connectAgain(link, CmEvent.Type.UNREACHABLE, -110);
    }
  }

  private void connectAgain(FakeLink link, CmEvent.Type expected, int status) throws Exception {
    try (CmId id = link.reader.events.createId()) {
      id.resolveAddress(link.listenerAddress(), 1);
      fabric.runUntilIdle();
      link.reader.event(CmEvent.Type.ADDR_RESOLVED);
      id.resolveRoute(1);
      fabric.runUntilIdle();
      link.reader.event(CmEvent.Type.ROUTE_RESOLVED);
      id.createQueuePair(link.reader.domain, link.reader.completions, new QueuePairCapacity(1, 1));
      id.connect(new byte[0]);
      fabric.runUntilIdle();
      if (expected == null) {
        assertThat(link.reader.events.await(0)).isNull();
      } else {
        assertThat(link.reader.event(expected).status()).isEqualTo(status);
      }
    }
  }

  @Test
  void heldEventsArriveInOrderAndNotForClosedIds() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      Hold hold = fabric.faults().holdCmEvents(CmEvent.Type.DISCONNECTED);
      link.reader.id.disconnect();
      fabric.runUntilIdle();
      assertThat(link.owner.events.await(0)).isNull();
      assertThat(hold.count()).isEqualTo(2);
      link.owner.id.close();
      hold.release();
      link.reader.event(CmEvent.Type.DISCONNECTED);
      assertThat(link.owner.events.await(0)).isNull();
    }
  }

  @Test
  void leaksAndBrokenRulesFailTheTestWithTheirPlace() throws Exception {
    FakeFabric leaky = FakeFabric.immediate();
    FakeLink link = FakeLink.on(leaky);
    assertThatThrownBy(link.owner.memory::close).hasMessageContaining("unmapped under 1 regions");
    assertThatThrownBy(leaky::assertNothingOpen)
        .hasMessageContaining("broken rule: MAPPING: unmapped under 1 regions")
        .hasMessageContaining("left open: QUEUE_PAIR")
        .hasMessageContaining(FakeLink.class.getName());
  }

  @Test
  void memlockBoundsAProcess() throws Exception {
    var process = fabric.newProcess(8192, 4096);
    try (var device = process.open(fabric.addAdapter());
        var domain = device.allocateProtectionDomain();
        Mapping memory = process.hostMemory().allocate(12288);
        MemoryRegion first = domain.register(memory.address(), 4097, Access.LOCAL_WRITE)) {
      assertThat(first.bytes()).isEqualTo(4097);
      assertThatThrownBy(() -> domain.register(memory.address(), 1, Access.LOCAL_WRITE))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM.number()));
    }
  }

  @Test
  void refusedRegistrationIsTheOneAskedFor() throws Exception {
    try (FakeLink link = FakeLink.on(fabric)) {
      fabric.faults().refuseRegistration(2, Errno.EFAULT);
      long address = link.reader.memory.address();
      link.reader.domain.register(address, 16, Access.LOCAL_WRITE).close();
      assertThatThrownBy(() -> link.reader.domain.register(address, 16, Access.LOCAL_WRITE))
          .hasMessageContaining("EFAULT (14)");
      link.reader.domain.register(address, 16, Access.LOCAL_WRITE).close();
    }
  }

  @Test
  void closedMemoryShowsPoison() throws Exception {
    Mapping memory = fabric.provider().hostMemory().allocate(16);
    ByteBuffer view = memory.view(0, 16);
    memory.close();
    assertThat(view.get(3)).isEqualTo((byte) 0xDB);
  }
}
