package io.rdmashuffle.it.spark;

import io.rdmashuffle.it.app.SuiteApplication;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes the archive of classes that {@code -Dit.sharedClasses} names (class-data sharing): those of
 * Spark that jobs in one JVM load, which is driver and executor. An emulated machine is spared
 * minutes of loading them in every JVM. A main program; the system properties are those of the
 * tests.
 */
final class SharedClasses {
  private SharedClasses() {}

  public static void main(String[] args) throws Exception {
    Path archive = Path.of(System.getProperty("it.sharedClasses"));
    Files.deleteIfExists(archive); // or the driver would be told to use it
    SubmittedSuite.stock("shared-classes")
        .driverOption("-XX:ArchiveClassesAtExit=" + archive)
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .jobs(SuiteApplication.resultsOfMoves().keySet().toArray(String[]::new))
        .run("local[2]")
        .result();
    if (!Files.exists(archive)) {
      throw new IllegalStateException("the driver ended without making " + archive);
    }
  }
}
