package io.rdmashuffle.core.doctor;

import io.rdmashuffle.core.adapter.DeviceSpec;
import io.rdmashuffle.core.config.BindNetwork;
import io.rdmashuffle.core.config.ByteSize;
import io.rdmashuffle.transport.device.DeviceSetting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the doctor was asked to look at.
 *
 * @param device as the plugin's settings of those names
 * @param folders where map outputs lie
 * @param wanted memory that a process of a job would register
 * @param peer a doctor that listens on another host
 * @param listens whether to wait for such a doctor after the checks
 * @param json whether to print a document instead of lines
 */
record DoctorOptions(
    DeviceSpec device,
    List<Path> folders,
    ByteSize wanted,
    Optional<PeerCode> peer,
    boolean listens,
    boolean json) {
  static final String USAGE =
      """
      java -jar rdma-shuffle-....jar [--device auto|soft|NAME] [--bind NETWORK] [--dir FOLDER]...
                                     [--need SIZE] [--listen] [--peer CODE] [--json]

        --device   as in the plugin's settings, auto by default
        --bind     as bind.address in the plugin's settings
        --dir      a folder for map outputs (spark.local.dir, yarn.nodemanager.local-dirs); the
                   folder for temporary files by default
        --need     memory that one process will register, 288m by default
        --listen   after the checks, wait for the doctor of another host; prints a code for it
        --peer     read from the doctor that printed the code
        --json     print one document

      Exit code 0: works, perhaps with warnings. 1: does not. 2: wrong arguments.
      """;

  private static final ByteSize STANDARD_NEED = ByteSize.mib(288);

  /**
   * @throws IllegalArgumentException naming what is wrong
   */
  static DoctorOptions parse(String[] arguments) {
    DeviceSetting device = DeviceSetting.AUTO;
    BindNetwork network = BindNetwork.ANY;
    List<Path> folders = new ArrayList<>();
    ByteSize wanted = STANDARD_NEED;
    Optional<PeerCode> peer = Optional.empty();
    boolean listens = false;
    boolean json = false;
    List<String> rest = new ArrayList<>(List.of(arguments));
    while (!rest.isEmpty()) {
      String flag = rest.remove(0);
      switch (flag) {
        case "--device" -> device = new DeviceSetting(value(flag, rest));
        case "--bind" -> network = BindNetwork.parse(value(flag, rest));
        case "--dir" -> folders.add(Path.of(value(flag, rest)));
        case "--need" -> wanted = ByteSize.parse(value(flag, rest));
        case "--peer" -> peer = Optional.of(PeerCode.parse(value(flag, rest)));
        case "--listen" -> listens = true;
        case "--json" -> json = true;
        default -> throw new IllegalArgumentException("unknown argument " + flag);
      }
    }
    if (folders.isEmpty()) {
      folders.add(Path.of(System.getProperty("java.io.tmpdir")));
    }
    DeviceSpec spec = new DeviceSpec(device, network, "--bind");
    return new DoctorOptions(spec, List.copyOf(folders), wanted, peer, listens, json);
  }

  private static String value(String flag, List<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException(flag + " needs a value");
    }
    return rest.remove(0);
  }
}
