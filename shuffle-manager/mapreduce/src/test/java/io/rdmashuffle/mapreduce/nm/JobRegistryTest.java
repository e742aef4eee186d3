package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobRegistryTest {
  private static final Job JOB = MapOutputFiles.job(1);

  @TempDir Path directory;
  private final List<String> done = new ArrayList<>();
  private final Deque<Runnable> work = new ArrayDeque<>();
  private boolean refuse;
  private boolean breakStore;

  private final class Recorder implements Tenants, JobRegistry.Store {
    @Override
    public boolean admit(long credentialId, byte[] secret) throws TransportException {
      done.add("admit " + secret.length);
      if (refuse) {
        throw new TransportException(TransportException.Kind.RETRY, "no domain left");
      }
      return true;
    }

    @Override
    public CompletableFuture<Void> withdraw(long credentialId) {
      done.add("withdraw");
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void save(Job job) throws IOException {
      done.add("save " + job.id().getId());
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
    return new JobRegistry(work::add, recorder, catalog, recorder);
  }

  private void runWork() {
    while (!work.isEmpty()) {
      work.poll().run();
    }
  }

  @Test
  void callbacksDoNothingButNote() {
    JobRegistry registry = registry();
    registry.add(JOB);
    registry.remove(JOB.application());
    assertThat(done).isEmpty();

    runWork();

    assertThat(done).containsExactly("admit 32", "save 1", "withdraw", "delete 1");
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
  }

  @Test
  void failuresCostThatJobRdmaAndNothingElse() {
    refuse = true;
    breakStore = true;
    JobRegistry registry = registry();
    registry.add(JOB);
    registry.remove(JOB.application());
    registry.add(MapOutputFiles.job(2));
    runWork();

    assertThat(done)
        .containsExactly("admit 32", "save 1", "withdraw", "delete 1", "admit 32", "save 2");
  }
}
