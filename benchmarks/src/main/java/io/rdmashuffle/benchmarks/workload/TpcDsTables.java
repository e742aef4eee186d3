package io.rdmashuffle.benchmarks.workload;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The TPC-DS tables at some scale factor, as Parquet files: generated once by io.trino.tpcds, then
 * reused. Runs in the driver.
 */
public final class TpcDsTables {
  private static final Set<String> LARGE =
      Set.of(
          "store_sales",
          "store_returns",
          "catalog_sales",
          "catalog_returns",
          "web_sales",
          "web_returns",
          "inventory");

  private final Path folder;
  private final double scale;

  public TpcDsTables(Path folder, double scale) {
    this.folder = folder;
    this.scale = scale;
  }

  /** Whether an earlier run finished them. */
  public boolean exist() {
    return Files.exists(folder.resolve("_COMPLETE"));
  }

  /** Generates what is not there. The session must have spark.sql.datetime.java8API.enabled. */
  public void generate(SparkSession spark, int slices, Consumer<String> progress)
      throws IOException {
    for (Table table : tables()) {
      long begin = System.nanoTime();
      write(spark, table, LARGE.contains(table.getName()) ? slices : 1);
      progress.accept("%s (%.1f s)".formatted(table.getName(), (System.nanoTime() - begin) / 1e9));
    }
    Files.writeString(folder.resolve("_COMPLETE"), "scale factor " + scale + "\n");
  }

  /** Makes them known to SQL under their names. */
  public void createViews(SparkSession spark) {
    for (Table table : tables()) {
      spark.read().parquet(path(table)).createOrReplaceTempView(table.getName());
    }
  }

  private String path(Table table) {
    return folder.resolve(table.getName()).toString();
  }

  private static List<Table> tables() {
    return Table.getBaseTables().stream()
        .filter(t -> !t.getName().equals("dbgen_version"))
        .toList();
  }

  private void write(SparkSession spark, Table table, int slices) {
    StructType schema = schema(table.getName());
    double factor = scale; // the lambda must not take this object along
    JavaRDD<Row> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(IntStream.range(0, slices).boxed().toList(), slices)
            .mapPartitions(it -> slice(table, factor, it.next(), slices, schema));
    spark.createDataFrame(rows, schema).write().mode("overwrite").parquet(path(table));
  }

  /**
   * One of several equal ranges of a table, lazily. The range is given to constructResults by its
   * first and last row: Session.withParallelism leaves all rows in the first chunk while a table
   * has fewer than a million.
   */
  private static Iterator<Row> slice(
      Table table, double scale, int index, int slices, StructType schema) {
    Session session = Session.getDefaultSession().withScale(scale).withTable(table);
    long count = session.getScaling().getRowCount(table);
    long first = count * index / slices + 1;
    long last = count * (index + 1) / slices;
    if (last < first) {
      return Collections.emptyIterator();
    }
    StructField[] fields = schema.fields();
    return StreamSupport.stream(
            Results.constructResults(table, first, last, session).spliterator(), false)
        .filter(rows -> !rows.isEmpty())
        .map(rows -> typed(rows.get(0), fields))
        .iterator();
  }

  private static Row typed(List<String> values, StructField[] fields) {
    Object[] row = new Object[fields.length];
    for (int i = 0; i < fields.length; i++) {
      String value = values.get(i);
      if (value != null && !value.isEmpty()) {
        row[i] = typed(value, fields[i].dataType());
      }
    }
    return RowFactory.create(row);
  }

  private static Object typed(String value, DataType type) {
    if (type instanceof IntegerType) {
      return Integer.valueOf(value);
    }
    if (type instanceof LongType) {
      return Long.valueOf(value);
    }
    if (type instanceof DecimalType) {
      return new BigDecimal(value);
    }
    return type instanceof DateType ? LocalDate.parse(value) : value;
  }

  /**
   * The columns as Spark's tests declare them. By reflection: the class is unpacked from Spark's
   * tests jar next to the queries and is no library to compile against.
   */
  private static StructType schema(String table) {
    try {
      Class<?> helper =
          Class.forName("org.apache.spark.sql.execution.benchmark.TPCDSSchemaHelper$");
      Object module = helper.getField("MODULE$").get(null);
      var columns = (scala.collection.Map<?, ?>) helper.getMethod("tableColumns").invoke(module);
      @SuppressWarnings("unchecked")
      String ddl = ((scala.collection.Map<String, String>) columns).apply(table);
      return StructType.fromDDL(ddl.replaceAll("(?i)(VAR)?CHAR\\(\\d+\\)", "STRING"));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Spark's TPC-DS schema is not on the class path", e);
    }
  }
}
