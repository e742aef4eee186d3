package io.rdmashuffle.transport;

import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that fetches all blocks of a {@link RemoteOwner} again and again until its input says
 * so, and does what an engine does when the adapter is lost. Prints {@code ARRIVED n levels} after
 * each round, {@code LOST reason}, and {@code CLOSED levels} in the end. Arguments: port for the
 * owner's commands, bytes per block, blocks.
 *
 * <p>As an object, such a process. Closing it kills it.
 */
final class RemoteReader implements AutoCloseable {
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private final Process process;
  private final BufferedReader out;
  private final Path log;

  private RemoteReader(Process process, Path log) {
    this.process = process;
    this.out = process.inputReader();
    this.log = log;
  }

  /** Its errors go to {@code folder/reader.log}. */
  static RemoteReader start(Path folder, OwnerProcess owner, int blockBytes, int blocks)
      throws IOException {
    return start(folder, owner, blockBytes, blocks, "");
  }

  /**
   * The same with faults.
   *
   * @param faults of the software adapter, in its own language
   */
  static RemoteReader start(
      Path folder, OwnerProcess owner, int blockBytes, int blocks, String faults)
      throws IOException {
    List<String> command = ChildJvm.command(RemoteReader.class);
    command.addAll(
        List.of(
            String.valueOf(owner.commands().getPort()),
            String.valueOf(blockBytes),
            String.valueOf(blocks)));
    Path log = Files.createTempFile(folder, "reader", ".log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
    builder.environment().put("SOFTHCA_FAULTS", faults);
    return new RemoteReader(builder.start(), log);
  }

  /** Waits for a line, for as long as the test may take. */
  String awaitLine(String beginning) throws IOException {
    List<String> seen = new ArrayList<>();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(beginning)) {
        return line;
      }
      seen.add(line);
    }
    throw new AssertionError(
        "no " + beginning + " in " + seen + ", then it ended:\n" + Files.readString(log));
  }

  /** Waits until rounds go as they should go once more; an earlier one may be half done. */
  String awaitRound(int arrived) throws IOException {
    return awaitLine("ARRIVED " + arrived + " ");
  }

  String log() throws IOException {
    return Files.readString(log);
  }

  /** Tells it to close its transport and end. Returns what it says last. */
  String stop() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    return awaitLine("CLOSED ");
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(20, TimeUnit.SECONDS).join();
  }

  public static void main(String[] args) throws Exception {
    int blockBytes = Integer.parseInt(args[1]);
    int blocks = Integer.parseInt(args[2]);
    InetSocketAddress owner = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
    TestDevice device = TestDevice.chosen();
    RdmaTransport transport;
    try (DisniProvider provider = device.load();
        RemotePeer reader = new RemotePeer(provider, device.address(), owner, blockBytes)) {
      transport = reader.transport();
      transport.lost().thenAcceptAsync(why -> onLost(why, reader));
      while (System.in.available() == 0) {
        long start = System.nanoTime();
        Collected fetch = reader.fetch(0, blocks);
        int arrived = reader.check(fetch);
        System.out.printf(
            "ARRIVED %d in %d ms %s %s%n",
            arrived,
            Duration.ofNanos(System.nanoTime() - start).toMillis(),
            fetch.reasons(),
            transport.levels());
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
    System.out.println("CLOSED " + transport.levels());
  }

  private static void onLost(String why, RemotePeer reader) {
    reader.close();
    System.out.println("LOST " + why + " " + reader.transport().levels());
  }
}
