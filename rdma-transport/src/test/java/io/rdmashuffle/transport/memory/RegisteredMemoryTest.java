package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.testing.fake.Resource;
import io.rdmashuffle.transport.verbs.Access;
import org.junit.jupiter.api.Test;

class RegisteredMemoryTest {
  @Test
  void isOneThingFromReservationToRegion() throws Exception {
    try (FakeHost host = new FakeHost(1 << 20)) {
      MemorySource source = host.source(Use.MESSAGES, Access.LOCAL_WRITE);
      RegisteredMemory memory = source.allocate(5000);
      assertThat(memory.bytes()).isEqualTo(8192);
      assertThat(host.budget.usedBytes(Use.MESSAGES)).isEqualTo(8192);
      assertThat(memory.lkey()).isNotZero();
      assertThat(memory.rkey()).isNotZero();
      memory.view(8184, 8).putLong(0, 1);
      memory.close();
      memory.close();
    }
  }

  @Test
  void deregisteringLeavesItMapped() throws Exception {
    try (FakeHost host = new FakeHost(1 << 20)) {
      RegisteredMemory memory = host.source(Use.STAGING, Access.REMOTE_READ).allocate(4096);
      memory.deregister();
      assertThat(host.fabric.openCount(Resource.REGION)).isZero();
      memory.view(0, 8).putLong(0, 1);
      assertThat(host.budget.usedBytes(Use.STAGING)).isEqualTo(4096);
      memory.close();
    }
  }

  @Test
  void nothingIsLeftOfARefusedOne() throws Exception {
    try (FakeHost host = new FakeHost(8192)) {
      MemorySource source = host.source(Use.MESSAGES, Access.LOCAL_WRITE);
      assertThatThrownBy(() -> source.allocate(8193))
          .isInstanceOfSatisfying(
              TransportException.class,
              e -> assertThat(e.kind()).isEqualTo(TransportException.Kind.RETRY))
          .hasMessageContaining("no room for 12 KiB of MESSAGES: 0 bytes registered of 8 KiB");
      host.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
      assertThatThrownBy(() -> source.allocate(8192)).hasMessageContaining("ENOMEM");
      assertThat(host.fabric.openCount(Resource.MAPPING)).isZero();
      source.allocate(8192).close();
    }
  }
}
