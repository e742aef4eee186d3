package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobStoreTest {
  private static final Job JOB = MapOutputFiles.job(7);

  @TempDir Path recovery;
  private Path directory;
  private JobStore store;

  @BeforeEach
  void open() throws IOException {
    directory = recovery.resolve("nm/jobs");
    store = JobStore.open(directory);
  }

  private Path fileOf(Job job) {
    return directory.resolve(job.application() + ".job");
  }

  private static void assertSame(List<Job> found, Job... expected) {
    assertThat(found).hasSameSizeAs(expected);
    for (Job job : expected) {
      assertThat(found).anyMatch(job::isSameAs);
    }
  }

  @Test
  void jobsComeBackAsTheyWere() throws IOException {
    Job other =
        new Job(ApplicationId.newInstance(5, 123_456), "ünal@EXAMPLE.COM", new byte[] {9, 0, 1});
    store.save(JOB);
    store.save(other);
    store.save(JOB);

    assertSame(JobStore.open(directory).load(), JOB, other);

    store.delete(JOB.application());
    store.delete(JOB.application());
    assertSame(store.load(), other);
  }

  @Test
  void nobodyElseMayReadThem() throws IOException {
    store.save(JOB);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fileOf(JOB))))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
        .isEqualTo("rwx------");
  }

  @Test
  void aDamagedOneCostsOnlyItself() throws IOException {
    store.save(JOB);
    byte[] good = Files.readAllBytes(fileOf(JOB));
    for (int i = 0; i < good.length; i++) {
      Job victim = MapOutputFiles.job(100 + i);
      byte[] bad = good.clone();
      bad[i] ^= 0x40;
      if (i < 4 || i >= 8) { // the version is another matter
        Files.write(fileOf(victim), bad);
      }
    }
    for (int length = 0; length < good.length; length++) {
      Files.write(fileOf(MapOutputFiles.job(1000 + length)), Arrays.copyOf(good, length));
    }
    Files.write(fileOf(MapOutputFiles.job(5000)), Arrays.copyOf(good, good.length + 1));
    Files.write(fileOf(MapOutputFiles.job(5001)), new byte[1 << 20]);
    Files.write(fileOf(MapOutputFiles.job(5002)), good); // of another job
    Files.write(directory.resolve("application_1_0001.tmp"), new byte[3]);

    assertSame(store.load(), JOB);

    try (var left = Files.list(directory)) {
      assertThat(left).as("damaged ones are deleted").containsExactly(fileOf(JOB));
    }
  }

  @Test
  void oneOfALaterReleaseIsLeftForIt() throws IOException {
    store.save(JOB);
    byte[] later = Files.readAllBytes(fileOf(JOB));
    ByteBuffer.wrap(later).putInt(4, 2);
    Files.write(fileOf(JOB), later);

    assertThat(store.load()).isEmpty();

    assertThat(fileOf(JOB)).exists();
  }

  @Test
  void whatCannotBeADirectoryIsAnError() throws IOException {
    Path file = Files.createFile(recovery.resolve("file"));
    assertThatThrownBy(() -> JobStore.open(file.resolve("jobs"))).isInstanceOf(IOException.class);
  }
}
