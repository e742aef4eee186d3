package io.rdmashuffle.it.app;

import io.rdmashuffle.benchmarks.workload.Workload;
import java.util.Arrays;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Joins two generated tables, aggregates and sorts. With adaptive execution its reducers are
 * coalesced and the skewed key is split, so that batch ids and ranges of maps are asked for.
 */
final class SqlJob implements Workload {
  @Override
  public String name() {
    return "sql";
  }

  @Override
  public String run(SparkSession spark) {
    Dataset<Row> orders =
        spark
            .range(0, 60_000, 1, 4)
            .selectExpr("id", "id % 3 * (id % 700) AS customer", "id * 3 AS price");
    Dataset<Row> customers =
        spark.range(0, 700, 1, 3).selectExpr("id AS customer", "concat('name-', id) AS name");
    orders.createOrReplaceTempView("orders");
    customers.createOrReplaceTempView("customers");
    Row[] rows =
        (Row[])
            spark
                .sql(
                    "SELECT name, count(*) n, sum(price) total FROM orders JOIN customers"
                        + " USING (customer) GROUP BY name ORDER BY total DESC, name")
                .collect();
    return Digest.of(Arrays.asList(rows));
  }
}
