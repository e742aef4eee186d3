package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Device;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ConnectionLimitsTest {
  private static final int MOST = ChannelSettings.defaults().maxConnections();
  private static final int ENTRIES = 34;
  private ConnectionLimits limits;

  @BeforeEach
  void open() throws Exception {
    FakeFabric fabric = FakeFabric.immediate();
    try (Device device = fabric.newProcess(Long.MAX_VALUE, 4096).open(fabric.addAdapter())) {
      limits = ConnectionLimits.of(ChannelSettings.defaults(), device.attributes());
    }
  }

  private List<ConnectionLimits.Permit> takeAll(Object sharer) {
    List<ConnectionLimits.Permit> permits = new ArrayList<>();
    ConnectionLimits.Permit permit = limits.tryAcquire(ENTRIES, sharer);
    while (permit != null) {
      permits.add(permit);
      permit = limits.tryAcquire(ENTRIES, sharer);
    }
    return permits;
  }

  @Test
  void aTenantGetsHalfOfWhatTheOthersLeave() {
    List<ConnectionLimits.Permit> first = takeAll("a");
    assertThat(first).hasSize(MOST / 2);
    assertThat(takeAll("b")).hasSize(MOST / 4);
    assertThat(takeAll("c")).hasSize(MOST / 8);
    assertThat(limits.tryAcquire(ENTRIES)).as("this process's own").isNotNull();

    first.forEach(ConnectionLimits.Permit::close);
    first.forEach(ConnectionLimits.Permit::close);
    assertThat(takeAll("b")).as("more, now that others left").isNotEmpty();
  }

  @Test
  void whatAllGaveBackMayBeTakenAgain() {
    for (int i = 0; i < 3; i++) {
      List<ConnectionLimits.Permit> permits = takeAll("a");
      assertThat(permits).hasSize(MOST / 2);
      permits.forEach(ConnectionLimits.Permit::close);
      assertThat(limits.inUse()).isZero();
    }
  }

  @Test
  void manyTenantsGetTwoEachAsLongAsThereIsRoom() {
    for (int tenant = 0; tenant < MOST / 2; tenant++) {
      assertThat(limits.tryAcquire(ENTRIES, tenant)).isNotNull();
      assertThat(limits.tryAcquire(ENTRIES, tenant)).isNotNull();
    }
    assertThat(limits.tryAcquire(ENTRIES, "one more")).isNull();
  }
}
