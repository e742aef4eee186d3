package io.rdmashuffle.it.spark;

import io.rdmashuffle.benchmarks.cluster.SparkHome;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A standalone master and workers on several addresses of the loopback network. Spark takes each
 * for another host, as it must before it starts a speculative attempt. One thread; closing it ends
 * all processes, executors included.
 */
final class StandaloneCluster implements AutoCloseable {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private final SparkHome home;
  private final Path logs;
  private final List<Process> processes = new ArrayList<>();
  private final int port;

  private StandaloneCluster(SparkHome home, Path logs) throws IOException {
    this.home = home;
    this.logs = logs;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
  }

  static StandaloneCluster start(SparkHome home, Path logs) throws IOException {
    Files.createDirectories(logs);
    StandaloneCluster cluster = new StandaloneCluster(home, logs);
    try {
      cluster.startMaster();
      return cluster;
    } catch (IOException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void startMaster() throws IOException {
    run(
        "master",
        "org.apache.spark.deploy.master.Master",
        "--host",
        "127.0.0.1",
        "--port",
        String.valueOf(port),
        "--webui-port",
        "0");
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!answers()) {
      if (System.nanoTime() > deadlineNs || !processes.get(0).isAlive()) {
        throw new IOException("the master does not come up, log " + logs.resolve("master.log"));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
  }

  private boolean answers() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** A worker at an address such as 127.0.0.2. */
  StandaloneCluster worker(String address, int cores, int megabytes) throws IOException {
    run(
        "worker-" + address,
        "org.apache.spark.deploy.worker.Worker",
        "--host",
        address,
        "--webui-port",
        "0",
        "--cores",
        String.valueOf(cores),
        "--memory",
        megabytes + "m",
        "--work-dir",
        home.folder().resolve("work").toString(),
        masterUrl());
    return this;
  }

  String masterUrl() {
    return "spark://127.0.0.1:" + port;
  }

  private void run(String name, String mainClass, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SparkHome.jvmOptions());
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-cp", home.classPath(), mainClass));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(home.folder().toFile());
    builder.environment().putAll(home.environment("2.13"));
    builder.redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")));
    builder.redirectErrorStream(true);
    builder.redirectOutput(logs.resolve(name + ".log").toFile());
    processes.add(builder.start());
  }

  @Override
  public void close() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
