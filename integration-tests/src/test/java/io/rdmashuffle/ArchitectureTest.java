package io.rdmashuffle;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows between modules and packages: rdma-transport <- core <- spark | mapreduce. */
@AnalyzeClasses(
    packages = {"io.rdmashuffle", "org.apache.hadoop.mapreduce.task.reduce"},
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestJars.class})
final class ArchitectureTest {
  /** Classes of tests come as a jar when modules are packaged, as folders before that. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  private static final String TRANSPORT = "io.rdmashuffle.transport..";
  private static final String CORE = "io.rdmashuffle.core..";
  private static final String SPARK = "io.rdmashuffle.spark..";
  private static final String MAPREDUCE = "io.rdmashuffle.mapreduce..";
  private static final String MAPREDUCE_IN_HADOOP = "org.apache.hadoop.mapreduce.task.reduce..";
  private static final String[] ENGINES = {"org.apache.spark..", "org.apache.hadoop..", "scala.."};

  @ArchTest
  static final ArchRule transportKnowsNoShuffle =
      noClasses()
          .that()
          .resideInAPackage(TRANSPORT)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(CORE, SPARK, MAPREDUCE);

  @ArchTest
  static final ArchRule transportAndCoreKnowNoEngine =
      noClasses()
          .that()
          .resideInAnyPackage(TRANSPORT, CORE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(ENGINES);

  @ArchTest
  static final ArchRule coreKnowsNoAdapter =
      noClasses()
          .that()
          .resideInAPackage(CORE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SPARK, MAPREDUCE);

  @ArchTest
  static final ArchRule sparkKnowsNoBenchmark =
      noClasses()
          .that()
          .resideInAPackage(SPARK)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.rdmashuffle.benchmarks..", MAPREDUCE);

  @ArchTest
  static final ArchRule mapReduceKnowsNoSparkAndNoBenchmark =
      noClasses()
          .that()
          .resideInAnyPackage(MAPREDUCE, MAPREDUCE_IN_HADOOP)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.rdmashuffle.benchmarks..", SPARK, "org.apache.spark..", "scala..");

  @ArchTest
  static final ArchRule nodeManagersKnowNoReduceTasks =
      noClasses()
          .that()
          .resideInAPackage("io.rdmashuffle.mapreduce.nm..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.rdmashuffle.mapreduce.reduce..", MAPREDUCE_IN_HADOOP);

  @ArchTest
  static final ArchRule reduceTasksKnowNoNodeManagers =
      noClasses()
          .that()
          .resideInAnyPackage("io.rdmashuffle.mapreduce.reduce..", MAPREDUCE_IN_HADOOP)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.rdmashuffle.mapreduce.nm..");

  @ArchTest
  static final ArchRule disniIsSeenInOnePackageOnly =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.rdmashuffle.transport.verbs.disni..", "com.ibm.disni..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.ibm.disni..");

  @ArchTest
  static final ArchRule kryoIsSeenInTheWireFormatOnly =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.rdmashuffle.transport.wire..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.esotericsoftware..");

  @ArchTest
  static final ArchRule transportPackagesFormNoCycle =
      slices().matching("io.rdmashuffle.transport.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule corePackagesFormNoCycle =
      slices().matching("io.rdmashuffle.core.(**)").should().beFreeOfCycles();
}
