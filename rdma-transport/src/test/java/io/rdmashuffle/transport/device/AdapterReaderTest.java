package io.rdmashuffle.transport.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.device.Adapter.Transport;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdapterReaderTest {
  @TempDir Path root;
  private SysfsTree tree;

  @BeforeEach
  void plant() throws IOException {
    tree = new SysfsTree(root);
  }

  private Adapter only() {
    assertThat(tree.adapters()).hasSize(1);
    return tree.adapters().get(0);
  }

  private String whyUnusable() {
    return only().ports().get(0).whyUnusable().orElse("usable");
  }

  @Test
  void hostWithoutTheFolderHasNoAdapters() {
    assertThat(tree.adapters()).isEmpty();
  }

  @Test
  void infiniBandPortIsReadInFull() throws Exception {
    tree.hardware("mlx5_0", "1: CA").infiniBand(1, "ib0");
    tree.address("ib0", "10.1.0.5");
    Adapter adapter = only();
    assertThat(adapter.identity().nodeGuid()).isEqualTo("0c42:a103:00a1:b2c4");
    assertThat(adapter.identity().transport()).isEqualTo(Transport.INFINIBAND);
    assertThat(adapter.identity().isSoftware()).isFalse();
    assertThat(adapter.whyUnusable()).isEmpty();
    Port port = adapter.ports().get(0);
    assertThat(port.lids()).isEqualTo(new Port.Lids(0x1f, 1));
    assertThat(port.link().gigabitsPerSecond()).isEqualTo(100);
    assertThat(port.gids())
        .containsExactly(
            new Gid(0, "fe80:0000:0000:0000:0e42:a103:00a1:b2c1", Gid.Type.IB_ROCE_V1, ""));
    assertThat(port.whyUnusable()).isEmpty();
    assertThat(port.describe())
        .isEqualTo(
            "mlx5_0:1 ACTIVE InfiniBand 100 Gb/sec (4X EDR), LID 0x1f, SM LID 0x1, ib0 10.1.0.5");
  }

  @Test
  void ipoibInterfacesBelongToTheirOwnPorts() throws Exception {
    tree.hardware("mlx4_0", "1: CA").infiniBand(1, "ib0").infiniBand(2, "ib1").netdev("eth7");
    assertThat(only().ports())
        .extracting(p -> p.interfaces().get(0).name())
        .containsExactly("ib0", "ib1");
    assertThat(only().ports()).allSatisfy(p -> assertThat(p.interfaces()).hasSize(1));
  }

  @Test
  void roceEntriesHaveTypesAndInterfacesAndZeroOnesAreLeftOut() throws Exception {
    tree.hardware("mlx5_2", "1: CA").roce(1, "eth2", "10.0.0.1");
    Port port = only().ports().get(0);
    assertThat(port.gids())
        .extracting(Gid::type)
        .containsExactly(
            Gid.Type.IB_ROCE_V1, Gid.Type.ROCE_V2, Gid.Type.IB_ROCE_V1, Gid.Type.ROCE_V2);
    assertThat(port.gids()).extracting(Gid::netdev).containsOnly("eth2");
    assertThat(port.interfaces()).hasSize(1);
    assertThat(port.addresses()).hasSize(1);
    assertThat(port.describe()).doesNotContain("LID").endsWith("eth2 10.0.0.1");
  }

  @Test
  void iwarpIsFoundByItsNodeTypeAndItsInterfaceByTheBus() throws Exception {
    tree.hardware("iwp0", "4: RNIC")
        .active(1, "Ethernet")
        .gid(1, 0, "0007:4300:0000:0000:0000:0000:0000:0000")
        .netdev("eth3");
    tree.address("eth3", "10.0.3.1");
    assertThat(only().identity().transport()).isEqualTo(Transport.IWARP);
    assertThat(whyUnusable()).isEqualTo("usable");
    assertThat(only().ports().get(0).gids().get(0).type()).isEqualTo(Gid.Type.OTHER);
  }

  @Test
  void adaptersOfManyCardsComeInOrder() throws Exception {
    for (int i : new int[] {10, 2, 0}) {
      tree.hardware("mlx5_" + i, "1: CA").infiniBand(1, "ib" + i);
    }
    assertThat(tree.adapters())
        .extracting(Adapter::name)
        .containsExactly("mlx5_0", "mlx5_2", "mlx5_10");
  }

  @Test
  void softwareAdaptersAreKnownUnderAnyName() throws Exception {
    tree.software("rxe0", "1: CA", "build-07 rxe0").file("parent", "eth0");
    tree.hardware("slow0", "4: RNIC").file("node_desc", "Software iWARP stack");
    tree.hardware("fast0", "1: CA").file("node_desc", "").file("parent", "eth0");
    tree.software("virtual0", "4: RNIC", "");
    tree.hardware("rxe_1", "1: CA").file("node_desc", "rxe");
    tree.hardware("siw0", "4: RNIC").file("node_desc", "Software iWARP stack 2");
    assertThat(tree.adapters())
        .filteredOn(adapter -> adapter.identity().isSoftware())
        .extracting(Adapter::name)
        .containsExactly("rxe0", "fast0", "slow0", "virtual0");
  }

  @Test
  void softwareAdapterIsOnItsParentsInterface() throws Exception {
    tree.software("rxe0", "1: CA", "rxe").roce(1, "eth0", "10.0.2.15").file("parent", "eth0");
    assertThat(whyUnusable()).isEqualTo("usable");
  }

  @Test
  void portThatIsDownSaysWhereToLook() throws Exception {
    tree.hardware("mlx5_0", "1: CA").port(1, "1: DOWN", "2: Polling", "InfiniBand");
    assertThat(whyUnusable()).startsWith("is DOWN (Polling): check cable");
  }

  @Test
  void portWithoutSubnetManagerSaysSo() throws Exception {
    tree.hardware("mlx5_0", "1: CA").port(1, "2: INIT", "5: LinkUp", "InfiniBand");
    assertThat(whyUnusable())
        .isEqualTo("is INIT (LinkUp): no subnet manager has activated it, start one (opensm)");
    tree.hardware("mlx5_0", "1: CA").port(1, "3: ARMED", "5: LinkUp", "InfiniBand");
    assertThat(whyUnusable()).startsWith("is ARMED (LinkUp): no subnet manager");
  }

  @Test
  void zeroGidsAreExplained() throws Exception {
    tree.hardware("mlx5_0", "1: CA").active(1, "Ethernet").gid(1, 0, SysfsTree.ZERO_GID);
    assertThat(whyUnusable()).startsWith("shows no GID: a container needs");
  }

  @Test
  void missingAddressIsExplained() throws Exception {
    tree.hardware("mlx5_0", "1: CA").roce(1, "eth2");
    assertThat(whyUnusable()).isEqualTo("has no IPv4 address: give eth2 one (ip address add)");
  }

  @Test
  void missingIpoibIsExplained() throws Exception {
    tree.hardware("mlx5_0", "1: CA")
        .active(1, "InfiniBand")
        .gid(1, 0, "fe80:0000:0000:0000:0e42:a103:00a1:b2c4");
    assertThat(whyUnusable()).contains("load ib_ipoib");
  }

  @Test
  void virtualFunctionWithoutGuidIsExplained() throws Exception {
    tree.hardware("mlx5_3", "1: CA").guid("0000:0000:0000:0000").infiniBand(1, "ib0");
    assertThat(only().whyUnusable().orElseThrow()).contains("virtual function without a node GUID");
  }

  @Test
  void otherNodesAndAdaptersWithoutPortsAreUnusable() throws Exception {
    tree.hardware("usnic_0", "6: usNIC UDP");
    assertThat(only().whyUnusable().orElseThrow()).contains("neither InfiniBand, RoCE nor iWARP");
    tree.hardware("usnic_0", "1: CA");
    assertThat(only().whyUnusable()).contains("has no ports");
  }

  @Test
  void brokenTreesAreReadAsFarAsTheyGo() throws Exception {
    tree.hardware("mlx5_0", "1: CA")
        .file("ports/1/lid", "no number")
        .file("ports/1/rate", "")
        .file("ports/power/control", "auto");
    Port port = only().ports().get(0);
    assertThat(only().ports()).hasSize(1);
    assertThat(port.lids().own()).isZero();
    assertThat(port.link().gigabitsPerSecond()).isZero();
    assertThat(port.whyUnusable()).isPresent();
  }

  @Test
  void hostAnswersForItself() {
    assertThat(NetdevAddresses.system().of("lo"))
        .extracting(NetdevAddress::text)
        .contains("127.0.0.1");
    assertThat(NetdevAddresses.system().of("nosuch0")).isEmpty();
    new AdapterReader(HostPaths.system(), NetdevAddresses.system())
        .adapters()
        .forEach(a -> assertThat(a.ports()).allSatisfy(p -> assertThat(p.describe()).isNotBlank()));
  }
}
