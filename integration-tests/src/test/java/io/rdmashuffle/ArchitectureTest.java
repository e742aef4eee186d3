package io.rdmashuffle;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.rdmashuffle.transport.Transport;
import java.lang.ref.Cleaner;
import java.nio.channels.AsynchronousChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.ThreadFactory;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;

/** The arrows between modules and packages: rdma-transport <- core <- spark | mapreduce. */
@AnalyzeClasses(
    packages = {"io.rdmashuffle", "org.apache.hadoop.mapreduce.task.reduce"},
    importOptions = {
      ImportOption.DoNotIncludeTests.class,
      ArchitectureTest.NoTestJars.class,
      ArchitectureTest.NoHadoop.class
    })
final class ArchitectureTest {
  /** Classes of tests come as a jar when modules are packaged, as folders before that. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  /** Of the package that a few of our classes share with it. */
  static final class NoHadoop implements ImportOption {
    private static final Pattern JAR = Pattern.compile(".*/hadoop-[^/]*\\.jar!.*");

    @Override
    public boolean includes(Location location) {
      return !location.matches(JAR);
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

  /**
   * The doctor opens what it examines for a moment, and a benchmark what it measures: a failure is
   * their result.
   */
  @ArchTest
  static final ArchRule onlyTheLifeCycleOpensATransport =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              TRANSPORT,
              "io.rdmashuffle.core.adapter..",
              "io.rdmashuffle.core.doctor..",
              "io.rdmashuffle.benchmarks..")
          .should()
          .callMethodWhere(target(name("open")).and(target(owner(assignableTo(Transport.class)))));

  /** What runs something on another thread, or passes it there. */
  private static final List<Class<?>> OTHER_WAYS =
      List.of(
          Executor.class,
          Executors.class,
          CompletionService.class,
          ForkJoinTask.class,
          ThreadFactory.class,
          Timer.class,
          TimerTask.class,
          BlockingQueue.class,
          ConcurrentLinkedQueue.class,
          ConcurrentLinkedDeque.class,
          Exchanger.class,
          SubmissionPublisher.class,
          AsynchronousChannel.class,
          Cleaner.class);

  private static final DescribedPredicate<JavaClass> ANOTHER_WAY =
      describe(
          "are executors, timers or queues of others",
          type -> OTHER_WAYS.stream().anyMatch(way -> isA(type, way)));

  private static final DescribedPredicate<JavaAccess<?>> STARTS_A_THREAD =
      describe(
          "a thread is made or started, or the JDK's common pool is used",
          access -> {
            JavaClass owner = access.getTargetOwner();
            String name = access.getName();
            return switch (name) {
              case "<init>", "start" -> isA(owner, Thread.class);
              case "parallel" -> isA(owner, BaseStream.class);
              case "parallelStream" -> isA(owner, Collection.class);
              case "orTimeout", "completeOnTimeout" -> isA(owner, CompletableFuture.class);
              default ->
                  (name.endsWith("Async") && isA(owner, CompletionStage.class))
                      || (name.startsWith("parallel") && isA(owner, Arrays.class));
            };
          });

  /**
   * Elsewhere work can be lost on its way: at a limit on threads, on a full heap, or when its
   * thread ends. In MapReduce's copy phase Hadoop's fetchers are threads, as in Hadoop's own; no
   * work is handed to them.
   */
  @ArchTest
  static final ArchRule workGoesToAnotherThreadByHandoverOnly =
      noClasses()
          .that()
          .resideInAnyPackage(TRANSPORT, CORE, SPARK, MAPREDUCE, MAPREDUCE_IN_HADOOP)
          .and()
          .resideOutsideOfPackage("io.rdmashuffle.transport.handover")
          .and()
          .doNotHaveFullyQualifiedName("org.apache.hadoop.mapreduce.task.reduce.CopyPhase")
          .and()
          .doNotHaveFullyQualifiedName("org.apache.hadoop.mapreduce.task.reduce.RdmaFetcher")
          .should()
          .dependOnClassesThat(ANOTHER_WAY)
          .orShould()
          .accessTargetWhere(STARTS_A_THREAD);

  /** Asks the JVM, as the classes of engines are imported by name only. */
  private static boolean isA(JavaClass type, Class<?> wanted) {
    try {
      return wanted.isAssignableFrom(
          Class.forName(type.getName(), false, ArchitectureTest.class.getClassLoader()));
    } catch (ClassNotFoundException | LinkageError e) { // primitives, and what engines lack here
      return false;
    }
  }

  /**
   * Core is for what several need: a class that one engine alone reaches belongs to that engine.
   */
  @ArchTest
  static void coreIsWhatBothEnginesOrTheDoctorUse(JavaClasses all) {
    Set<JavaClass> core = all.that(resideInAPackage(CORE)).stream().collect(Collectors.toSet());
    Set<JavaClass> needed = new HashSet<>(usedBy(all, MAPREDUCE, MAPREDUCE_IN_HADOOP));
    needed.retainAll(usedBy(all, SPARK));
    needed.addAll(all.that(resideInAPackage("io.rdmashuffle.core.doctor..")));
    Deque<JavaClass> next = new ArrayDeque<>(needed);
    while (!next.isEmpty()) {
      for (JavaClass used : uses(next.pop())) {
        if (core.contains(used) && needed.add(used)) {
          next.push(used);
        }
      }
    }
    assertThat(core)
        .filteredOn(c -> c.isTopLevelClass() && c.getModifiers().contains(JavaModifier.PUBLIC))
        // ConfigDocs writes a page of settings for each engine, Spark's from a test.
        .filteredOn(c -> !c.getSimpleName().equals("ConfigDocs"))
        .isNotEmpty()
        .allMatch(needed::contains);
  }

  private static Set<JavaClass> usedBy(JavaClasses all, String... packages) {
    return all.that(resideInAnyPackage(packages)).stream()
        .flatMap(user -> uses(user).stream())
        .collect(Collectors.toSet());
  }

  /** What a class uses, and the classes around that. */
  private static Set<JavaClass> uses(JavaClass user) {
    Set<JavaClass> used = new HashSet<>();
    for (Dependency dependency : user.getDirectDependenciesFromSelf()) {
      JavaClass target = dependency.getTargetClass();
      used.add(target);
      target.getEnclosingClass().ifPresent(used::add);
    }
    return used;
  }
}
