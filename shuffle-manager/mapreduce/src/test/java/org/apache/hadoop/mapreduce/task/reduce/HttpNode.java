package org.apache.hadoop.mapreduce.task.reduce;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.rdmashuffle.mapreduce.reduce.TestSegment;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;

/** Serves map outputs as Hadoop's ShuffleHandler does: all that were asked for, or status 500. */
final class HttpNode implements AutoCloseable {
  private final MapOutputs outputs;
  private final SecretKey secret;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<List<String>> requests = new CopyOnWriteArrayList<>();
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  HttpNode(MapOutputs outputs, SecretKey secret) throws IOException {
    this.outputs = outputs;
    this.secret = secret;
    this.server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/mapOutput", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  /** As completion events name it. */
  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void lose(TaskAttemptID attempt) {
    missing.add(attempt.toString());
  }

  void loseAll() {
    outputs.attempts().forEach(this::lose);
  }

  void find(TaskAttemptID attempt) {
    missing.remove(attempt.toString());
  }

  /** The attempts of each request so far. */
  List<List<String>> requests() {
    return requests;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String query = exchange.getRequestURI().getQuery();
      List<String> attempts = Arrays.asList(query.substring(query.indexOf("map=") + 4).split(","));
      requests.add(attempts);
      byte[] body = attempts.stream().anyMatch(missing::contains) ? null : body(attempts);
      String hash = exchange.getRequestHeaders().getFirst(SecureShuffleUtils.HTTP_HEADER_URL_HASH);
      exchange
          .getResponseHeaders()
          .add(
              SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH,
              SecureShuffleUtils.generateHash(hash.getBytes(StandardCharsets.UTF_8), secret));
      exchange
          .getResponseHeaders()
          .add(ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
      exchange
          .getResponseHeaders()
          .add(ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
      if (body == null) {
        exchange.sendResponseHeaders(500, -1);
      } else {
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
      }
    }
  }

  private byte[] body(List<String> attempts) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    for (String name : attempts) {
      TestSegment segment = outputs.segment(TaskAttemptID.forName(name));
      new ShuffleHeader(name, segment.partBytes(), segment.rawBytes(), 0).write(out);
      out.write(segment.content().apply(0));
    }
    return bytes.toByteArray();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
