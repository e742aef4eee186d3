package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.server.BlockLocation;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MapOutputLocatorTest {
  private static final Job JOB = MapOutputFiles.job(7);

  @TempDir Path directory;

  private MapOutputFiles files() {
    return new MapOutputFiles(directory);
  }

  private SegmentIndex locate() throws IOException {
    return files().locator().locate(JOB, MapOutputFiles.attempt(JOB, 3));
  }

  private void assertNotServed(String why) {
    assertThatThrownBy(this::locate).isInstanceOf(IOException.class).hasMessageContaining(why);
  }

  @Test
  void segmentsLieWhereTheIndexSays() throws IOException {
    files().write(JOB, 3, 0, 6, 100, 5000);

    SegmentIndex index = locate();

    BlockLocation segment = index.segment(2);
    assertThat(segment.file().path()).isEqualTo(files().data(JOB, 3));
    assertThat(segment.file().bytes()).isEqualTo(5106);
    assertThat(segment.offsetBytes()).isEqualTo(6);
    assertThat(segment.bytes()).isEqualTo(100);
    assertThat(segment.attribute()).isEqualTo(100 * MapOutputFiles.RAW_FACTOR);
    assertThat(index.segment(0).bytes()).isZero();
    assertThat(index.segment(4)).isNull();
    assertThat(index.segment(-1)).isNull();
    assertThat(index.segment(Integer.MAX_VALUE)).isNull();
  }

  @Test
  void numbersBeyondAnIntAreCarried() throws IOException {
    files().writeSparse(JOB, 3, 5L << 30);

    assertThat(locate().segment(0).bytes()).isEqualTo((5L << 30) - 4);
    assertThat(locate().segment(1).offsetBytes()).isEqualTo((5L << 30) - 4);
  }

  /** Start, raw and part length of a segment in a file of 100 bytes. */
  @ParameterizedTest
  @CsvSource({
    "-1,10,10",
    "0,-1,10",
    "0,10,-1",
    "0,101,101",
    "100,1,1",
    "1,100,100",
    "9223372036854775807,1,1",
    "1,1,9223372036854775807",
    "-9223372036854775808,1,1",
    "9223372036854775807,1,9223372036854775807"
  })
  void segmentsOutsideTheFileAreRefused(long start, long raw, long part) throws IOException {
    files().write(JOB, 3, 50, 50);
    files().writeIndex(JOB, 3, new IndexRecord(0, 50, 50), new IndexRecord(start, raw, part));

    assertNotServed("segment 1 of");
  }

  @Test
  void dataMayLieInAnotherLocalDirectoryThanItsIndex() throws IOException {
    files().write(JOB, 3, 50, 50);
    MapOutputFiles other = new MapOutputFiles(directory.resolve("other"));
    Files.createDirectories(other.folder(JOB, 3));
    Files.move(files().data(JOB, 3), other.data(JOB, 3));
    Configuration both = files().conf();
    both.set(YarnConfiguration.NM_LOCAL_DIRS, directory + "," + directory.resolve("other"));

    SegmentIndex index =
        MapOutputFiles.locator(both, FileOwners.ANY).locate(JOB, MapOutputFiles.attempt(JOB, 3));

    assertThat(index.file().path()).isEqualTo(other.data(JOB, 3));
  }

  @Test
  void whatHadoopWritesIsRead() throws IOException {
    files().write(JOB, 3, 50, 50);
    SpillRecord written = new SpillRecord(2);
    written.putIndex(new IndexRecord(0, 7, 40), 0);
    written.putIndex(new IndexRecord(40, 8, 60), 1);
    written.writeToFile(
        new org.apache.hadoop.fs.Path(files().index(JOB, 3).toString()),
        new JobConf(files().conf()));

    BlockLocation segment = locate().segment(1);

    assertThat(segment.offsetBytes()).isEqualTo(40);
    assertThat(segment.bytes()).isEqualTo(60);
    assertThat(segment.attribute()).isEqualTo(8);
  }

  @Test
  void aMissingOutputIsRefused() {
    assertThatThrownBy(this::locate).isInstanceOf(IOException.class);
  }

  @Test
  void dataThatIsGoneIsRefused() throws IOException {
    files().write(JOB, 3, 50, 50);
    Files.delete(files().data(JOB, 3));
    assertNotServed("file.out");
  }

  @Test
  void dataThatIsCutIsRefused() throws IOException {
    files().write(JOB, 3, 50, 50);
    try (FileChannel data = FileChannel.open(files().data(JOB, 3), StandardOpenOption.WRITE)) {
      data.truncate(99);
    }
    assertNotServed("segment 1 of");
  }

  @Test
  void everyFlippedBitOfAnIndexIsFoundOut() throws IOException {
    files().write(JOB, 3, 50, 50);
    byte[] good = Files.readAllBytes(files().index(JOB, 3));
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 1;
      Files.write(files().index(JOB, 3), bad);
      assertThatThrownBy(this::locate).as("byte %d", i).isInstanceOf(IOException.class);
    }
  }

  @Test
  void everyCutOfAnIndexIsFoundOut() throws IOException {
    files().write(JOB, 3, 50, 50);
    byte[] good = Files.readAllBytes(files().index(JOB, 3));
    for (int length = 0; length < good.length; length++) {
      Files.write(files().index(JOB, 3), Arrays.copyOf(good, length));
      assertThatThrownBy(this::locate).as("%d bytes", length).isInstanceOf(IOException.class);
    }
  }

  @Test
  void anIndexTooLargeToBeOneIsNotRead() throws IOException {
    files().write(JOB, 3, 50, 50);
    try (FileChannel index = FileChannel.open(files().index(JOB, 3), StandardOpenOption.WRITE)) {
      index.write(java.nio.ByteBuffer.allocate(8), 24L * (3 << 20));
    }
    assertNotServed("is no index");
  }

  @Test
  void linksAndDirectoriesAreNoMapOutputs() throws IOException {
    files().write(JOB, 3, 50, 50);
    Path elsewhere = directory.resolve("elsewhere");
    Files.move(files().data(JOB, 3), elsewhere);
    Files.createSymbolicLink(files().data(JOB, 3), elsewhere);
    assertNotServed("file.out");

    Files.delete(files().data(JOB, 3));
    Files.createDirectory(files().data(JOB, 3));
    assertNotServed("is no plain file");

    Files.move(files().index(JOB, 3), directory.resolve("index"));
    Files.createSymbolicLink(files().index(JOB, 3), directory.resolve("index"));
    assertNotServed("file.out.index");
  }

  @Test
  void nothingBehindALinkedDirectoryIsServed() throws IOException {
    files().write(JOB, 3, 50, 50);
    assertThat(locate().segment(0).bytes()).isEqualTo(50);
    Path folder = files().folder(JOB, 3);
    Path elsewhere = Files.move(folder, directory.resolve("elsewhere"));
    Files.createSymbolicLink(folder, elsewhere);

    assertNotServed(folder.getFileName().toString());
  }

  @Test
  void withKerberosFilesOfOthersThanTheJobsUserAreRefused() throws IOException {
    files().write(JOB, 3, 50, 50);
    String owner = Files.getOwner(files().data(JOB, 3)).getName();
    Job own = new Job(JOB.application(), owner, MapOutputFiles.SECRET);
    files().write(own, 3, 50, 50);
    MapOutputLocator strict = MapOutputFiles.locator(files().conf(), FileOwners.USER_OF_JOB);

    assertThat(strict.locate(own, MapOutputFiles.attempt(own, 3)).segment(1).bytes()).isEqualTo(50);
    assertThatThrownBy(() -> strict.locate(JOB, MapOutputFiles.attempt(JOB, 3)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("belongs to " + owner + ", not to " + JOB.user());
  }

  @Test
  void attemptsOfOtherJobsAreRefused() throws IOException {
    Job other = MapOutputFiles.job(8);
    files().write(other, 3, 50, 50);
    assertThatThrownBy(() -> files().locator().locate(JOB, MapOutputFiles.attempt(other, 3)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
