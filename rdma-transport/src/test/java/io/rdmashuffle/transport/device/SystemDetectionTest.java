package io.rdmashuffle.transport.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.device.DeviceSelection.Request;
import io.rdmashuffle.transport.device.Selection.NotUsable;
import io.rdmashuffle.transport.device.Selection.Provider;
import io.rdmashuffle.transport.device.Selection.Selected;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the running kernel's sysfs shows of a software adapter, of the kind ({@code rxe}, {@code
 * siw}) that {@code -Drdmashuffle.test.kind} names.
 */
final class SystemDetectionTest {
  private final String kind = System.getProperty("rdmashuffle.test.kind");
  private final NetdevAddresses addresses = NetdevAddresses.system();
  private InetAddress address;
  private Adapter adapter;

  @BeforeEach
  void find() throws Exception {
    address = TestDevice.ofSystem().address();
    List<Adapter> adapters = new AdapterReader(HostPaths.system(), addresses).adapters();
    assertThat(adapters).hasSize(1);
    adapter = adapters.get(0);
  }

  private Selection choose(String setting) {
    return new DeviceSelection(HostPaths.system(), addresses)
        .choose(
            new Request(
                new DeviceSetting(setting), AddressRange.ANY, InetAddress.getLoopbackAddress()));
  }

  @Test
  void theAdapterIsSeenAsWhatItIs() {
    assertThat(adapter.name()).isEqualTo(kind + "0");
    assertThat(adapter.identity().isSoftware()).isTrue();
    assertThat(adapter.identity().transport())
        .isEqualTo(kind.equals("siw") ? Adapter.Transport.IWARP : Adapter.Transport.INFINIBAND);
    assertThat(adapter.whyUnusable()).isEmpty();
    assertThat(adapter.ports()).hasSize(1);
  }

  @Test
  void thePortIsActiveAndLeadsToItsAddress() {
    Port port = adapter.ports().get(0);
    assertThat(port.whyUnusable()).isEmpty();
    assertThat(port.link().isActive()).isTrue();
    assertThat(port.link().isInfiniBand()).isFalse();
    assertThat(port.addresses())
        .extracting(NetdevAddress::text)
        .containsExactly(address.getHostAddress());
    assertThat(port.interfaces()).extracting(Port.Interface::name).containsExactly("eth0");
    assertThat(port.gids()).isNotEmpty();
    if (kind.equals("rxe")) {
      assertThat(port.gids()).extracting(Gid::type).contains(Gid.Type.ROCE_V2);
    }
  }

  @Test
  void autoLeavesItAloneAndSaysWhy() {
    assertThat(choose("auto"))
        .isInstanceOfSatisfying(
            NotUsable.class,
            none -> assertThat(none.reason()).contains("only software adapters (" + kind + "0)"));
  }

  @Test
  void itIsChosenByNameByPortAndByAddress() {
    for (String setting : List.of(kind + "0", kind + "0:1", address.getHostAddress())) {
      assertThat(choose(setting))
          .isInstanceOfSatisfying(
              Selected.class,
              selected -> {
                assertThat(selected.provider()).isEqualTo(Provider.SYSTEM);
                assertThat(selected.device()).isEqualTo(kind + "0:1");
                assertThat(selected.address()).isEqualTo(address);
              });
    }
  }

  @Test
  void anAdapterThatIsNotThereIsNamedWithWhatThereIs() {
    assertThat(choose("mlx5_0"))
        .isInstanceOfSatisfying(
            NotUsable.class,
            none -> assertThat(none.reason()).contains("mlx5_0", kind + "0:1", "ACTIVE"));
  }
}
