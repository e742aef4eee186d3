package io.rdmashuffle.mapreduce.nm;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;

/** Segments by HTTP, as Hadoop's reducers ask for them. */
final class HttpSegments {
  private static final String HMAC = "HmacSHA1";

  private HttpSegments() {}

  /** The answer to one request. */
  static DataInputStream open(int port, Job job, List<Integer> maps, int reduce)
      throws IOException, GeneralSecurityException {
    String attempts =
        maps.stream()
            .map(map -> MapOutputFiles.attempt(job, map).toString())
            .collect(Collectors.joining(","));
    String query = "/mapOutput?job=%s&reduce=%d&map=%s".formatted(job.id(), reduce, attempts);
    URL url = new URL("http://127.0.0.1:" + port + query);
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.addRequestProperty("UrlHash", hash(job, port + query));
    connection.setRequestProperty("name", "mapreduce");
    connection.setRequestProperty("version", "1.0.0");
    return new DataInputStream(connection.getInputStream());
  }

  /** The next segment of an answer. */
  static byte[] next(DataInputStream answer) throws IOException {
    Text.readString(answer); // the fields of ShuffleHeader, in its order: attempt,
    long partBytes = WritableUtils.readVLong(answer);
    WritableUtils.readVLong(answer); // raw length,
    WritableUtils.readVInt(answer); // reduce
    byte[] bytes = new byte[(int) partBytes];
    answer.readFully(bytes);
    return bytes;
  }

  private static String hash(Job job, String message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance(HMAC);
    mac.init(new SecretKeySpec(job.shuffleSecret(), HMAC));
    return Base64.getEncoder()
        .encodeToString(mac.doFinal(message.getBytes(StandardCharsets.UTF_8)));
  }
}
