package io.rdmashuffle.transport.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.device.Selection.NotUsable;
import io.rdmashuffle.transport.device.Selection.Selected;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hosts and containers as the kernel shows them, with what is to be chosen there, or why nothing.
 */
final class DeviceTreesTest {
  private static final String CA = "1: CA";
  private static final String REMEDY =
      "; a container needs the host's network namespace or an interface of this port"
          + " (SR-IOV, macvlan)";

  @TempDir Path root;
  private SysfsTree tree;

  @BeforeEach
  void plant() throws IOException {
    tree = new SysfsTree(root.toRealPath());
  }

  private void assertChosen(String port, String address) throws IOException {
    assertChosen("auto", port, address);
  }

  private void assertChosen(String setting, String port, String address) throws IOException {
    assertChosen(tree.choose(setting), port, address);
  }

  private static void assertChosen(Selection selection, String port, String address) {
    assertThat(selection)
        .isInstanceOfSatisfying(
            Selected.class,
            chosen -> {
              assertThat(chosen.device()).isEqualTo(port);
              assertThat(chosen.address().getHostAddress()).isEqualTo(address);
            });
  }

  private String reason(String setting) throws IOException {
    Selection selection = tree.choose(setting);
    assertThat(selection).isInstanceOf(NotUsable.class);
    return ((NotUsable) selection).reason();
  }

  /** All namespaces see the table of mlx5_0 with the host's eth0; the pod's eth0 is a veth. */
  private void podWithAnInterfaceOfTheSameName() throws IOException {
    tree.hardware("mlx5_0", CA).roceElsewhere(1, "eth0", "192.168.10.7");
    tree.address("eth0", "10.244.0.17/24");
  }

  @Test
  void anInterfaceOfAPodIsNotTakenForTheHostsOfThatName() throws Exception {
    podWithAnInterfaceOfTheSameName();
    tree.hardware("mlx5_1", CA)
        .roceElsewhere(1, "eth1", "192.168.20.7")
        .entry(1, "net1", "192.168.20.130");
    tree.address("net1", "192.168.20.130/24");
    assertChosen("mlx5_1:1", "192.168.20.130");
    assertChosen(tree.choose("auto", "10.244.0.17"), "mlx5_1:1", "192.168.20.130");
    assertThat(reason("mlx5_0"))
        .isEqualTo(
            "no usable RDMA port: mlx5_0:1 has 192.168.10.7 on eth0 of another network namespace"
                + REMEDY);
    assertThat(reason("10.244.0.17")).startsWith("no adapter has the address 10.244.0.17; ");
  }

  @Test
  void aPodWithTheSharedDevicePluginButNoInterfaceOfItIsToldWhatItLacks() throws Exception {
    podWithAnInterfaceOfTheSameName();
    tree.hardware("mlx5_1", CA).roceElsewhere(1, "ens3f1", "192.168.20.7");
    tree.withoutDeviceFile("uverbs0");
    assertThat(reason("auto"))
        .isEqualTo(
            "no usable RDMA port: mlx5_0 cannot be opened, "
                + tree.paths().deviceFiles().resolve("uverbs0")
                + " is missing: give it to the container"
                + " | mlx5_1:1 has 192.168.20.7 on ens3f1 of another network namespace"
                + REMEDY);
  }

  @Test
  void aPodWithTheSharedDevicePluginAndMacvlanTakesItsOwnAddress() throws Exception {
    tree.hardware("mlx5_0", CA)
        .roceElsewhere(1, "ens3f0", "192.168.10.7")
        .entry(1, "net1", "192.168.10.133") // of another pod, whose interface has that name, too
        .entry(1, "net1", "192.168.10.134");
    tree.address("net1", "192.168.10.134/24").address("eth0", "10.244.0.17/32");
    assertChosen("mlx5_0:1", "192.168.10.134");
  }

  @Test
  void anAddressThatIsNotAmongTheGidsIsNamed() throws Exception {
    tree.hardware("mlx5_0", CA).roce(1, "eth0");
    tree.address("eth0", "10.0.0.5");
    assertThat(reason("auto"))
        .isEqualTo(
            "no usable RDMA port: mlx5_0:1 has no GID of 10.0.0.5, the address of eth0" + REMEDY);
  }

  @Test
  void anIwarpInterfaceOfThatNameCountsOnlyWithTheAdaptersMacAddress() throws Exception {
    tree.hardware("iwp0", "4: RNIC")
        .active(1, "Ethernet")
        .gid(1, 0, "0007:4300:0001:0000:0000:0000:0000:0000", "IB/RoCE v1", "eth0");
    tree.address("eth0", "10.0.3.1").mac("eth0", "00:07:43:00:00:01");
    assertChosen("iwp0:1", "10.0.3.1");
    tree.mac("eth0", "8a:07:43:00:00:01");
    assertThat(reason("auto"))
        .isEqualTo(
            "no usable RDMA port: iwp0:1 is on a eth0 of another network namespace" + REMEDY);
  }

  @Test
  void onlyAnAdapterWhoseDeviceFileIsThereIsTaken() throws Exception {
    for (int i = 0; i < 4; i++) {
      tree.hardware("mlx5_" + i, CA).roce(1, "eth" + i, "10.0." + i + ".1");
    }
    tree.withoutDeviceFile("uverbs0").withoutDeviceFile("uverbs2");
    assertChosen("mlx5_1:1", "10.0.1.1");
    assertChosen(tree.choose("auto", "10.0.2.1"), "mlx5_1:1", "10.0.1.1");
    assertChosen("mlx5_3", "mlx5_3:1", "10.0.3.1");
    assertThat(reason("mlx5_2"))
        .isEqualTo(
            "no usable RDMA port: mlx5_2 cannot be opened, "
                + tree.paths().deviceFiles().resolve("uverbs2")
                + " is missing: give it to the container");
  }

  @Test
  void theAddressOfBondedIpoibBelongsToTheActivePort() throws Exception {
    tree.hardware("mlx5_0", CA).infiniBand(1, "ib0");
    tree.hardware("mlx5_1", CA).infiniBand(1, "ib1");
    tree.address("bond0", "10.1.0.5").bond("bond0", "ib1", "ib0", "ib1");
    assertChosen("mlx5_1:1", "10.1.0.5");
    assertChosen("10.1.0.5", "mlx5_1:1", "10.1.0.5");
    assertThat(reason("mlx5_0"))
        .isEqualTo(
            "no usable RDMA port: mlx5_0:1 has only ib0, a standby of bond0, whose active member"
                + " is ib1");
    tree.bond("bond0", "ib0", "ib0", "ib1");
    assertChosen("mlx5_0:1", "10.1.0.5");
  }

  @Test
  void ipoibInARoutingDomainKeepsItsOwnAddress() throws Exception {
    tree.hardware("mlx5_0", CA).infiniBand(1, "ib0");
    tree.address("ib0", "10.1.0.5").address("blue", "127.0.0.1/8");
    Path vrf = tree.paths().netdevs().resolve("blue").toRealPath();
    Files.createSymbolicLink(tree.paths().netdevs().resolve("ib0/master"), vrf);
    assertChosen("mlx5_0:1", "10.1.0.5");
  }

  @Test
  void thePrimaryRoutableAddressIsTaken() throws Exception {
    String[] all = {"169.254.7.7/16", "10.0.0.9/32", "10.0.0.5/24", "10.0.7.1/24", "10.0.0.200/24"};
    tree.hardware("mlx5_0", CA).roce(1, "eth0", all);
    assertChosen("mlx5_0:1", "10.0.0.5");
    assertChosen("10.0.0.9", "mlx5_0:1", "10.0.0.9");
    assertChosen(tree.choose("auto", "10.0.7.1"), "mlx5_0:1", "10.0.7.1");
    tree.address("eth0", "169.254.7.7/16", "10.0.0.9/32");
    assertChosen("mlx5_0:1", "10.0.0.9");
    tree.address("eth0", "169.254.7.7/16");
    assertChosen("mlx5_0:1", "169.254.7.7");
  }

  @Test
  void aPortWithOnlyALinkLocalAddressIsTheLastChoice() throws Exception {
    tree.hardware("mlx5_0", CA).roce(1, "eth0", "169.254.7.7/16").rate(1, "400 Gb/sec (4X NDR)");
    tree.hardware("mlx5_1", CA).roce(1, "eth1", "10.0.0.5/24");
    assertChosen("mlx5_1:1", "10.0.0.5");
  }

  @Test
  void theRangeDecidesAmongPortsAndAddresses() throws Exception {
    tree.hardware("mlx5_0", CA).roce(1, "eth0", "10.0.0.5", "10.7.0.5");
    tree.hardware("mlx5_1", CA).roce(1, "eth1", "10.8.0.5");
    tree.address("docker0", "10.7.0.1");
    AddressRange range =
        new AddressRange("bind.address=10.7.0.0/16", a -> a.getHostAddress().startsWith("10.7."));
    assertChosen(tree.choose("auto", range, "10.0.0.5"), "mlx5_0:1", "10.7.0.5");
    assertThat(((NotUsable) tree.choose("mlx5_1", range, "10.0.0.5")).reason())
        .isEqualTo(
            "no usable RDMA port: mlx5_1:1 has no address in bind.address=10.7.0.0/16, but"
                + " 10.8.0.5");
    assertChosen(tree.choose("soft", range, "10.0.0.5"), "soft0", "10.7.0.5");
  }

  @ParameterizedTest
  @ValueSource(strings = {"software-build-07 mlx5_0", "rxegion12 mlx5_0", "rxe", "siw mlx5_0"})
  void aDescriptionMakesNoSoftwareAdapter(String description) throws Exception {
    tree.hardware("mlx5_0", CA).roce(1, "eth0", "10.0.0.5").file("node_desc", description);
    assertChosen("mlx5_0:1", "10.0.0.5");
  }

  @Test
  void aVirtualFunctionWithGidsOfItsOwnIsTaken() throws Exception {
    tree.hardware("mlx5_0", CA).infiniBand(1, "ib0"); // the physical one, its address elsewhere
    tree.hardware("mlx5_4", CA).guid("0011:2233:4477:6601").infiniBand(1, "ib4");
    tree.hardware("mlx5_4", CA).gid(1, 1, "fe80:0000:0000:0000:0011:2233:4477:6601");
    tree.address("ib4", "10.1.4.5");
    assertChosen("mlx5_4:1", "10.1.4.5");
    tree.hardware("mlx5_4", CA).guid("0000:0000:0000:0000");
    assertThat(reason("mlx5_4")).contains("is a virtual function without a node GUID");
  }

  @Test
  void theFunctionWithoutGuidThatNothingIsOnDoesNotHideTheOther() throws Exception {
    tree.hardware("mlx5_1", CA).guid("0000:0000:0000:0000").roce(1, "eth1", "10.0.1.1");
    tree.hardware("mlx5_2", CA).roce(1, "eth2v0", "10.0.2.1");
    assertChosen("mlx5_2:1", "10.0.2.1");
  }

  @Test
  void ofTwoPortsOfACardTheOneWithTheCableIsTaken() throws Exception {
    tree.hardware("mlx4_0", CA)
        .infiniBand(1, "ib0")
        .infiniBand(2, "ib1")
        .port(1, "1: DOWN", "2: Polling", "InfiniBand");
    tree.address("ib0", "10.1.0.5").address("ib1", "10.1.0.6");
    assertChosen("mlx4_0:2", "10.1.0.6");
    assertChosen("mlx4_0", "mlx4_0:2", "10.1.0.6");
    assertChosen(tree.choose("auto", "10.1.0.5"), "mlx4_0:2", "10.1.0.6");
    assertThat(reason("mlx4_0:1"))
        .isEqualTo(
            "no usable RDMA port: mlx4_0:1 is DOWN (Polling): check cable, switch and driver"
                + " (ibstat, ip link)");
  }

  @Test
  void roceOnAVlanHasTheVlansAddress() throws Exception {
    tree.hardware("mlx5_0", CA).roce(1, "eth0").netdev("eth0").entry(1, "eth0.100", "10.100.0.5");
    tree.address("eth0.100", "10.100.0.5");
    assertChosen("mlx5_0:1", "10.100.0.5");
  }

  @Test
  void roceOnABondHasTheBondsAddress() throws Exception {
    tree.hardware("mlx5_bond_0", CA).roce(1, "bond0", "10.0.0.5").netdev("eth0").netdev("eth1");
    tree.bond("bond0", "eth0", "eth0", "eth1");
    assertChosen("mlx5_bond_0:1", "10.0.0.5");
  }

  @Test
  void adaptersWithoutReliableConnectionsLoseToARealCard() throws Exception {
    tree.hardware("efa_0", "7: unspecified")
        .active(1, "Unknown")
        .rate(1, "400 Gb/sec (4X NDR)")
        .gid(1, 0, "fe80:0000:0000:0000:0cff:d3ff:fe1a:0c1b", "IB/RoCE v1", "")
        .netdev("eth0");
    tree.hardware("usnic_0", "6: usNIC UDP")
        .active(1, "Ethernet")
        .gid(1, 0, "fe80:0000:0000:0000:0225:b5ff:fe00:00af", "IB/RoCE v1", "")
        .netdev("enp6s0");
    tree.address("eth0", "172.31.0.5").address("enp6s0", "10.0.6.1");
    assertThat(reason("auto"))
        .isEqualTo(
            "no usable RDMA port: efa_0 is neither InfiniBand, RoCE nor iWARP"
                + " | usnic_0 is neither InfiniBand, RoCE nor iWARP");
    tree.hardware("mlx5_0", CA).roce(1, "eth1", "10.0.0.5").rate(1, "25 Gb/sec (1X EDR)");
    assertChosen("mlx5_0:1", "10.0.0.5");
    assertChosen(tree.choose("auto", "172.31.0.5"), "mlx5_0:1", "10.0.0.5");
  }

  @Test
  void whatIsHiddenIsNotCalledAbsent() throws Exception {
    Path adapters = tree.paths().adapters();
    Files.createDirectories(adapters.getParent());
    Files.createSymbolicLink(adapters, Path.of("../devices/nowhere"));
    assertThat(reason("auto"))
        .isEqualTo(
            "no RDMA adapter: "
                + adapters
                + " leads to no directory: something hides it from this process");
    Files.delete(adapters);
    Files.createDirectories(adapters);
    String sys = root.toRealPath().resolve("sys").toString();
    tree.mounts("/ overlay", sys + " sysfs");
    assertThat(reason("auto")).endsWith(adapters + " is empty, no driver has found one");
    tree.mounts("/ overlay", sys + " sysfs", adapters + " tmpfs");
    assertThat(reason("auto"))
        .isEqualTo(
            "no RDMA adapter: "
                + adapters
                + " is hidden from this process: no sysfs, but tmpfs is mounted at "
                + adapters);
    tree.mounts("/ overlay");
    assertThat(reason("mlx5_0")).endsWith("no sysfs, but overlay is mounted at /");
  }

  @Test
  void anAdapterWhoseDeviceIsHiddenIsNamedAndNotCalledSoftware() throws Exception {
    Path entry = tree.paths().adapters().resolve("mlx5_0");
    Files.createDirectories(entry.getParent());
    Files.createSymbolicLink(entry, Path.of("../../devices/pci0000:00/infiniband/mlx5_0"));
    String expected =
        "mlx5_0 cannot be read, "
            + entry
            + " leads nowhere: something hides /sys/devices from this process";
    assertThat(reason("auto")).isEqualTo("no usable RDMA port: " + expected);
    assertThat(reason("mlx5_0")).isEqualTo("no usable RDMA port: " + expected);
    tree.hardware("mlx5_1", CA).roce(1, "eth1", "10.0.0.5");
    assertChosen("mlx5_1:1", "10.0.0.5");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "foo:x", "foo:", "foo:0", ":1", "a b", "a/b", "10.0.0", "10.0.0.256"})
  void aMalformedSettingIsRefused(String text) {
    assertThatThrownBy(() -> new DeviceSetting(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"" + text.strip() + "\" names no device; allowed: " + DeviceSetting.FORM);
  }
}
