package io.rdmashuffle.benchmarks.workload;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.StringJoiner;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * One of the TPC-DS queries that Spark's own tests carry, on tables made by {@link TpcDsTables}.
 */
public final class TpcDsQuery implements Workload {
  private final String query;

  /**
   * @param query for instance {@code q23a}
   */
  public TpcDsQuery(String query) {
    this.query = query;
  }

  @Override
  public String name() {
    return "tpcds-" + query;
  }

  @Override
  public String run(SparkSession spark) throws IOException {
    Row[] rows = (Row[]) spark.sql(text()).collect();
    return rows.length + " rows, sha256 " + digest(rows);
  }

  private String text() throws IOException {
    try (InputStream in = TpcDsQuery.class.getResourceAsStream("/tpcds/" + query + ".sql")) {
      if (in == null) {
        throw new IOException(
            "no TPC-DS query " + query + "; they are q1 to q99, some with a or b");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String digest(Row[] rows) {
    String[] lines = Arrays.stream(rows).map(TpcDsQuery::line).sorted().toArray(String[]::new);
    return Digests.sha256(String.join("\n", lines)).substring(0, 16);
  }

  private static String line(Row row) {
    StringJoiner joined = new StringJoiner("\t");
    for (int i = 0; i < row.length(); i++) {
      joined.add(text(row.get(i)));
    }
    return joined.toString();
  }

  /** Doubles to nine digits: their last ones depend on the order in which partial sums arrive. */
  private static String text(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal.toPlainString();
    }
    if (value instanceof Double number) {
      return String.format(Locale.ROOT, "%.9g", number);
    }
    return String.valueOf(value);
  }

  private static final class Digests {
    static String sha256(String text) {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
      } catch (java.security.NoSuchAlgorithmException e) {
        throw new IllegalStateException(e); // every Java platform has it: MessageDigest's Javadoc
      }
    }
  }
}
