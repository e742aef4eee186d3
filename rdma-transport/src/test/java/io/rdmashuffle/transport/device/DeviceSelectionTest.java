package io.rdmashuffle.transport.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.device.Selection.NotUsable;
import io.rdmashuffle.transport.device.Selection.Provider;
import io.rdmashuffle.transport.device.Selection.Selected;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceSelectionTest {
  @TempDir Path root;
  private SysfsTree tree;

  @BeforeEach
  void plant() throws IOException {
    tree = new SysfsTree(root);
  }

  private void plantTwoCards() throws IOException {
    tree.hardware("mlx5_0", "1: CA").infiniBand(1, "ib0").infiniBand(2, "ib1");
    tree.hardware("mlx5_1", "1: CA").roce(1, "eth1", "10.0.1.1").rate(1, "200 Gb/sec (4X HDR)");
    tree.address("ib0", "10.0.0.1").address("ib1", "10.0.0.2");
  }

  private void assertSelected(Selection selection, String port, String address) {
    assertThat(selection).isInstanceOf(Selected.class);
    Selected selected = (Selected) selection;
    assertThat(selected.device()).isEqualTo(port);
    assertThat(selected.address().getHostAddress()).isEqualTo(address);
  }

  private static String reason(Selection selection) {
    assertThat(selection).isInstanceOf(NotUsable.class);
    String reason = ((NotUsable) selection).reason();
    assertThat(reason.lines()).hasSize(1);
    return reason;
  }

  @Test
  void autoTakesTheFastestPort() throws Exception {
    plantTwoCards();
    assertSelected(tree.choose("auto"), "mlx5_1:1", "10.0.1.1");
    assertSelected(tree.choose(" auto "), "mlx5_1:1", "10.0.1.1");
  }

  @Test
  void autoPrefersThePortTheEngineListensOn() throws Exception {
    plantTwoCards();
    assertSelected(tree.choose("auto", "10.0.0.2"), "mlx5_0:2", "10.0.0.2");
  }

  @Test
  void autoTakesTheFirstOfEqualPorts() throws Exception {
    tree.hardware("mlx5_1", "1: CA").infiniBand(1, "ib1");
    tree.hardware("mlx5_0", "1: CA").infiniBand(1, "ib0");
    tree.address("ib0", "10.0.0.1").address("ib1", "10.0.0.2");
    assertSelected(tree.choose("auto"), "mlx5_0:1", "10.0.0.1");
  }

  @Test
  void autoPassesOverPortsThatCannotBeUsed() throws Exception {
    plantTwoCards();
    tree.hardware("mlx5_1", "1: CA").port(1, "1: DOWN", "3: Disabled", "Ethernet");
    assertSelected(tree.choose("auto"), "mlx5_0:1", "10.0.0.1");
  }

  @Test
  void aPortWithoutInterfacesIsFoundByTheMacAddressInItsGid() throws Exception {
    tree.software("siw0", "4: RNIC", "Software iWARP stack")
        .active(1, "Ethernet")
        .gid(1, 0, "5254:0012:3456:0000:0000:0000:0000:0000");
    tree.mac("lo", "00:00:00:00:00:00").mac("eth0", "52:54:00:12:34:56");
    tree.mac("eth1", "52:54:00:12:34:57");
    tree.address("eth0", "10.0.0.1").address("eth1", "10.0.0.2");
    assertSelected(tree.choose("siw0"), "siw0:1", "10.0.0.1");
    tree.mac("eth0", "52:54:00:12:34:58");
    assertThat(reason(tree.choose("siw0"))).contains("no network interface");
  }

  @Test
  void portsCanBeNamedInThreeWays() throws Exception {
    plantTwoCards();
    assertSelected(tree.choose("mlx5_0"), "mlx5_0:1", "10.0.0.1");
    assertSelected(tree.choose("mlx5_0:2"), "mlx5_0:2", "10.0.0.2");
    assertSelected(tree.choose("10.0.0.2"), "mlx5_0:2", "10.0.0.2");
  }

  @Test
  void secondAddressOfAPortIsTakenWhenNamed() throws Exception {
    tree.hardware("mlx5_2", "1: CA").roce(1, "eth2", "10.0.0.1").entry(1, "eth2.7", "10.0.1.2");
    tree.address("eth2.7", "10.0.1.2");
    assertSelected(tree.choose("10.0.1.2"), "mlx5_2:1", "10.0.1.2");
    assertSelected(tree.choose("mlx5_2", "10.0.1.2"), "mlx5_2:1", "10.0.1.2");
  }

  @Test
  void unknownNamesListWhatThereIs() throws Exception {
    plantTwoCards();
    assertThat(reason(tree.choose("mlx5_7")))
        .startsWith("there is no adapter mlx5_7; this host has: mlx5_0:1 ACTIVE InfiniBand")
        .contains("eth1 10.0.1.1");
    assertThat(reason(tree.choose("mlx5_0:3"))).startsWith("there is no adapter mlx5_0:3;");
    assertThat(reason(tree.choose("10.9.9.9")))
        .startsWith("no adapter has the address 10.9.9.9; this host has:");
  }

  @Test
  void reasonsOfAllPortsAreGivenWhenNoneCanBeUsed() throws Exception {
    tree.hardware("mlx5_0", "1: CA")
        .port(1, "1: DOWN", "2: Polling", "InfiniBand")
        .port(2, "2: INIT", "5: LinkUp", "InfiniBand");
    tree.hardware("mlx5_1", "1: CA").guid("0000:0000:0000:0000").roce(1, "eth1", "10.0.1.1");
    assertThat(reason(tree.choose("auto")))
        .startsWith("no usable RDMA port: mlx5_0:1 is DOWN (Polling)")
        .contains(" | mlx5_0:2 is INIT")
        .contains(" | mlx5_1 is a virtual function");
    assertThat(reason(tree.choose("mlx5_0:2"))).doesNotContain("mlx5_0:1", "mlx5_1");
  }

  @Test
  void hostsWithoutAdaptersSaySo() throws Exception {
    assertThat(reason(tree.choose("auto"))).contains("does not exist, no RDMA driver is loaded");
    Files.createDirectories(tree.paths().adapters());
    assertThat(reason(tree.choose("auto"))).contains("is empty");
    assertThat(reason(tree.choose("mlx5_0"))).contains("is empty");
  }

  @Test
  void autoNeverTakesSoftwareButNamingItDoes() throws Exception {
    tree.software("rxe0", "1: CA", "rxe").roce(1, "eth0", "10.0.2.15");
    tree.software("siw0", "4: RNIC", "Software iWARP stack");
    assertThat(reason(tree.choose("auto")))
        .isEqualTo("only software adapters (rxe0, siw0): they lose to TCP; name one to use it");
    assertThat(reason(tree.choose("auto", "10.0.2.15"))).contains("only software adapters");
    assertSelected(tree.choose("rxe0"), "rxe0:1", "10.0.2.15");
    assertSelected(tree.choose("10.0.2.15"), "rxe0:1", "10.0.2.15");
  }

  @Test
  void softTakesTheEnginesAddressElseLoopback() throws Exception {
    assertSelected(tree.choose("soft", "192.168.9.9"), "soft0", "192.168.9.9");
    assertSelected(tree.choose("soft", "0.0.0.0"), "soft0", "127.0.0.1");
    assertSelected(tree.choose("soft", "::1"), "soft0", "127.0.0.1");
    assertThat(((Selected) tree.choose("soft")).provider()).isEqualTo(Provider.SOFT);
    plantTwoCards();
    assertThat(((Selected) tree.choose("soft")).provider()).isEqualTo(Provider.SOFT);
    assertThat(((Selected) tree.choose("auto")).provider()).isEqualTo(Provider.SYSTEM);
  }

  @Test
  void missingDeviceFilesAreExplained() throws Exception {
    plantTwoCards();
    tree.withoutDeviceFile("rdma_cm");
    assertThat(reason(tree.choose("auto")))
        .contains("mlx5_1:1 cannot be opened")
        .contains("rdma_cm is missing: load rdma_ucm; a container needs");
  }
}
