package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.testing.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * A {@link ShuffleNode} in a process of its own, which can be killed as a machine fails: nothing of
 * it is closed. Map outputs are written from here. One thread; whoever starts it closes it.
 */
public final class NodeProcess implements AutoCloseable {
  private static final String SECRET = "NODE_PROCESS_SECRET";
  private static final String READY = "READY ";
  private static final Duration START_LIMIT = Patience.seconds(30);

  private final Process process;
  private final ShuffleNode files; // never started here
  private final String url;

  private NodeProcess(Process process, ShuffleNode files, String url) {
    this.process = process;
    this.files = files;
    this.url = url;
  }

  /** Returns when it serves the job. */
  public static NodeProcess start(Path folder, JobID id, SecretKey secret, String... jvmOptions)
      throws IOException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"));
    words.add("-Djava.io.tmpdir=" + Files.createDirectories(folder)); // it may be killed
    words.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    words.addAll(List.of(jvmOptions));
    words.addAll(List.of("-cp", System.getProperty("java.class.path")));
    words.addAll(List.of(NodeProcess.class.getName(), folder.toString(), id.toString()));
    ProcessBuilder command = new ProcessBuilder(words);
    command.environment().put(SECRET, Base64.getEncoder().encodeToString(secret.getEncoded()));
    Process process = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      String url = awaitReady(process);
      return new NodeProcess(process, ShuffleNode.withRdma(folder, id, secret), url);
    } catch (IOException | RuntimeException e) {
      process.destroyForcibly(); // ends the thread that reads, too
      throw e;
    }
  }

  private static String awaitReady(Process process) throws IOException {
    FutureTask<String> url = new FutureTask<>(() -> readUrl(process));
    Thread reading = new Thread(url, "node-process-output");
    reading.setDaemon(true);
    reading.start();
    try {
      return url.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException("the node did not start", e);
    } catch (TimeoutException e) {
      throw new IOException("the node does not serve after " + START_LIMIT, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the node started");
    }
  }

  private static String readUrl(Process process) throws IOException {
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(READY)) {
        return line.substring(READY.length());
      }
    }
    throw new IOException("the node ended before it served");
  }

  /**
   * @param args folder and job; it ends when its input does
   */
  public static void main(String[] args) throws IOException {
    byte[] secret = Base64.getDecoder().decode(System.getenv(SECRET));
    ShuffleNode node =
        ShuffleNode.withRdma(
            Path.of(args[0]), JobID.forName(args[1]), new SecretKeySpec(secret, "HmacSHA1"));
    node.start();
    System.out.println(READY + node.url());
    while (System.in.read() >= 0) {
      // until the parent closes it
    }
    node.stop();
  }

  /** As completion events name it. */
  public String url() {
    return url;
  }

  /** Writes an output that has one segment. */
  public void write(TaskAttemptID attempt, byte[] segment, long rawBytes) throws IOException {
    files.write(attempt, segment, rawBytes);
  }

  /** SIGKILL; returns when it is gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
