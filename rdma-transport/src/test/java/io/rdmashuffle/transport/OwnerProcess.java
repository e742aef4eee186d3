package io.rdmashuffle.transport;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@link RemoteOwner} in a process of its own on this host. Closing it kills it. */
final class OwnerProcess implements AutoCloseable {
  private final Process process;
  private final InetSocketAddress commands;

  private OwnerProcess(Process process, InetSocketAddress commands) {
    this.process = process;
    this.commands = commands;
  }

  /** Starts one and waits until it takes commands. Its errors go to {@code folder/owner.log}. */
  static OwnerProcess start(Path folder, int blockBytes, int blocks) throws IOException {
    List<String> command = ChildJvm.command(RemoteOwner.class);
    command.addAll(
        List.of("0", folder.toString(), String.valueOf(blockBytes), String.valueOf(blocks)));
    Path log = Files.createTempFile(folder, "owner", ".log");
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    BufferedReader out = process.inputReader();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith("READY ")) {
        int port = Integer.parseInt(line.substring("READY ".length()));
        return new OwnerProcess(process, new InetSocketAddress("127.0.0.1", port));
      }
    }
    throw new IOException("the owner did not start:\n" + Files.readString(log));
  }

  /** Where it takes commands. */
  InetSocketAddress commands() {
    return commands;
  }

  /** kill -9, and waits for the end. */
  void kill() {
    process.destroyForcibly().onExit().orTimeout(20, TimeUnit.SECONDS).join();
  }

  @Override
  public void close() {
    kill();
  }
}
