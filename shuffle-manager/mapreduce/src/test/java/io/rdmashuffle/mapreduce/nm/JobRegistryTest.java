package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Work;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobRegistryTest {
  private static final Job JOB = MapOutputFiles.job(1);

  @TempDir Path directory;
  private final List<String> done = new ArrayList<>();
  private final Deque<Work> work = new ArrayDeque<>();
  private boolean noHandover;
  private boolean noMemory;
  private String lastDeed = "none";
  private boolean refuse;
  private boolean breakStore;

  private final class Recorder implements Tenants, JobRegistry.Store {
    @Override
    public boolean admit(long credentialId, byte[] secret) throws TransportException {
      meetShortage();
      did("admit " + secret.length);
      if (refuse) {
        throw new TransportException(TransportException.Kind.RETRY, "no domain left");
      }
      return true;
    }

    @Override
    public CompletableFuture<Void> withdraw(long credentialId) {
      meetShortage();
      done.add("withdraw");
      return CompletableFuture.completedFuture(null);
    }

    private void did(String deed) {
      done.add(deed);
      if (deed.equals(lastDeed)) {
        throw new OutOfMemoryError("the test's shortage after a deed");
      }
    }

    private void meetShortage() {
      if (noMemory) {
        noMemory = false;
        throw new OutOfMemoryError("the test's shortage");
      }
    }

    @Override
    public void save(Job job) throws IOException {
      did("save " + job.id().getId());
      if (breakStore) {
        throw new IOException("disk full");
      }
    }

    @Override
    public void delete(ApplicationId application) {
      done.add("delete " + application.getId());
    }

    @Override
    public List<Job> load() {
      return List.of();
    }
  }

  private final Recorder recorder = new Recorder();

  private JobRegistry registry() {
    JobCatalog catalog =
        new JobCatalog(new MapOutputFiles(directory).locator(), new IndexCache(1000));
    return new JobRegistry(this::handOver, recorder, catalog, recorder);
  }

  private void handOver(Work one) {
    if (noHandover) {
      one.abandon(new OutOfMemoryError("the test's shortage"));
    } else {
      work.add(one);
    }
  }

  private void runWork() {
    while (!work.isEmpty()) {
      assertThat(work.poll().perform()).isNull();
    }
  }

  @Test
  void callbacksDoNothingButNote() {
    JobRegistry registry = registry();
    registry.add(JOB);
    assertThat(done).isEmpty();
    runWork();
    assertThat(done).containsExactly("admit 32", "save 1");

    done.clear();
    registry.remove(JOB.application());
    assertThat(done).isEmpty();
    runWork();
    assertThat(done).containsExactly("withdraw", "delete 1");
  }

  @Test
  void whatIsRefusedIsDoneWithTheNextContainerOrEndOrAdapter() {
    JobRegistry registry = registry();
    List<Consumer<JobRegistry>> calls =
        List.of(
            r -> r.add(JOB), r -> r.remove(MapOutputFiles.job(9).application()), JobRegistry::wake);
    for (int i = 0; i < calls.size(); i++) {
      noHandover = true;
      registry.add(MapOutputFiles.job(2 + i));
      assertThat(work).isEmpty();

      noHandover = false;
      calls.get(i).accept(registry);
      runWork();

      assertThat(done).contains("admit 32", "save " + (2 + i));
      done.clear();
    }
    noHandover = true;
    registry.remove(JOB.application());
    registry.remove(MapOutputFiles.job(2).application());
    noHandover = false;
    registry.add(MapOutputFiles.job(3));
    runWork();
    assertThat(done).containsExactlyInAnyOrder("withdraw", "withdraw", "delete 1", "delete 2");
  }

  @Test
  void anotherAdapterIsToldOfAllJobsEvenIfTheFirstTryIsRefused() {
    JobRegistry registry = registry();
    registry.add(JOB);
    registry.add(MapOutputFiles.job(2));
    runWork();
    done.clear();

    noHandover = true;
    registry.onOpen();
    noHandover = false;
    registry.add(JOB);
    runWork();
    assertThat(done).containsExactly("admit 32", "admit 32");
  }

  @Test
  void whatOneJobMeetsLeavesOthersAloneAndIsTriedAgain() {
    JobRegistry registry = registry();
    noMemory = true;
    registry.add(JOB);
    registry.add(MapOutputFiles.job(2));
    runWork();
    assertThat(done).as("of the other").containsExactly("admit 32", "save 2");
    registry.add(MapOutputFiles.job(2));
    runWork();
    assertThat(done).containsExactly("admit 32", "save 2", "admit 32", "save 1");

    done.clear();
    noMemory = true;
    registry.remove(JOB.application());
    registry.remove(MapOutputFiles.job(2).application());
    runWork();
    assertThat(done).hasSize(3).containsOnlyOnce("withdraw");
    registry.wake();
    runWork();
    assertThat(done).containsExactlyInAnyOrder("withdraw", "withdraw", "delete 1", "delete 2");
  }

  @Test
  void aJobThatWasAdmittedInAShortageIsWithdrawn() {
    JobRegistry registry = registry();
    lastDeed = "admit 32";
    registry.add(JOB);
    runWork();
    registry.remove(JOB.application());
    runWork();
    assertThat(done).containsExactly("admit 32", "withdraw");
  }

  @Test
  void aRecordThatWasSavedInAShortageIsSavedAgainAndDeleted() {
    JobRegistry registry = registry();
    lastDeed = "save 1";
    registry.add(JOB);
    runWork();
    registry.wake();
    runWork();
    registry.remove(JOB.application());
    runWork();
    assertThat(done).containsExactly("admit 32", "save 1", "save 1", "withdraw", "delete 1");
  }

  @Test
  void aPassingShortageOfTheAdapterDoesNotLast() {
    refuse = true;
    JobRegistry registry = registry();
    registry.add(JOB);
    runWork();
    refuse = false;
    for (int i = 0; i < 2; i++) {
      registry.wake();
      runWork();
    }
    assertThat(done).containsExactly("admit 32", "save 1", "admit 32");
  }

  @Test
  void anotherSecretWaitsUntilTheFirstIsWithdrawn() {
    JobRegistry registry = registry();
    registry.add(JOB);
    runWork();
    done.clear();

    noMemory = true;
    registry.add(new Job(JOB.application(), JOB.user(), new byte[] {1}));
    runWork();
    assertThat(done).isEmpty();
    registry.wake();
    runWork();
    assertThat(done).containsExactly("withdraw", "admit 32", "save 1");
  }

  @Test
  void aJobIsAddedOnceHoweverManyContainersItHas() {
    JobRegistry registry = registry();
    for (int container = 0; container < 6; container++) {
      registry.add(MapOutputFiles.job(1));
      runWork();
    }
    assertThat(done).containsExactly("admit 32", "save 1");
    assertThat(registry.size()).isEqualTo(1);
  }

  @Test
  void aContainerThatComesLateDoesNotReviveItsJob() {
    JobRegistry registry = registry();
    registry.add(JOB);
    runWork();
    registry.remove(JOB.application());
    registry.add(JOB);
    runWork();

    assertThat(registry.size()).isZero();
    assertThat(done).containsExactly("admit 32", "save 1", "withdraw", "delete 1");
  }

  @Test
  void jobsThatNeverCameMayGo() {
    JobRegistry registry = registry();
    registry.remove(JOB.application());
    runWork();
    assertThat(done).isEmpty();
  }

  @Test
  void anotherSecretReplacesTheFirst() {
    JobRegistry registry = registry();
    registry.add(JOB);
    runWork();
    registry.add(new Job(JOB.application(), JOB.user(), new byte[] {1}));
    runWork();

    assertThat(done).containsExactly("admit 32", "save 1", "withdraw", "admit 32", "save 1");
    assertThat(registry.size()).isEqualTo(1);
  }

  @Test
  void recoveredJobsAreNotSavedAgain() {
    JobRegistry registry = registry();
    registry.recover(List.of(JOB, MapOutputFiles.job(2)));
    registry.add(JOB);
    runWork();

    assertThat(done).containsExactly("admit 32", "admit 32");
    assertThat(registry.size()).isEqualTo(2);

    done.clear();
    registry.remove(JOB.application());
    runWork();
    assertThat(done).containsExactly("withdraw", "delete 1");
  }

  @Test
  void failuresCostThatJobRdmaAndNothingElse() {
    refuse = true;
    breakStore = true;
    JobRegistry registry = registry();
    registry.add(JOB);
    runWork();
    registry.remove(JOB.application());
    registry.add(MapOutputFiles.job(2));
    runWork();

    assertThat(done)
        .containsExactly("admit 32", "save 1", "withdraw", "delete 1", "admit 32", "save 2");
  }
}
