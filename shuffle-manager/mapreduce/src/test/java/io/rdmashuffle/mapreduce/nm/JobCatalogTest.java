package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobCatalogTest {
  private static final Job JOB = MapOutputFiles.job(7);
  private static final long SCOPE = JOB.credential().id();

  @TempDir Path directory;
  private MapOutputFiles files;
  private JobCatalog catalog;

  @BeforeEach
  void open() throws IOException {
    files = new MapOutputFiles(directory);
    catalog = new JobCatalog(files.locator(), new IndexCache(1 << 20));
    catalog.add(JOB);
    files.write(JOB, 0, 10, 20);
  }

  @Test
  void theFirstLookUpReadsTheOthersRemember() throws IOException {
    BlockKey key = MapOutputFiles.key(JOB, 0, 1);
    assertThat(catalog.find(SCOPE, key)).isNull();

    BlockLocation loaded = catalog.load(SCOPE, key);

    assertThat(loaded.bytes()).isEqualTo(20);
    assertThat(catalog.find(SCOPE, key)).isEqualTo(loaded);
    assertThat(catalog.find(SCOPE, MapOutputFiles.key(JOB, 0, 0)).file()).isSameAs(loaded.file());
    assertThat(catalog.find(SCOPE, MapOutputFiles.key(JOB, 0, 2))).isNull();
    assertThat(catalog.load(SCOPE, MapOutputFiles.key(JOB, 0, 2))).isNull();
  }

  @Test
  void lengthsAndPiecesAreFound() throws IOException {
    int piece = MapOutputKeys.PIECE_BYTES;
    files.write(JOB, 1, 5, 2 * piece + 7);
    TaskAttemptID attempt = MapOutputFiles.attempt(JOB, 1);

    BlockLocation length = catalog.load(SCOPE, MapOutputKeys.lengthKeyOf(attempt, 1));
    BlockLocation last = catalog.load(SCOPE, MapOutputKeys.pieceKeyOf(attempt, 1, 2));

    assertThat(length.bytes()).isZero();
    assertThat(length.attribute()).isEqualTo(2L * piece + 7);
    assertThat(last.offsetBytes()).isEqualTo(5 + 2L * piece);
    assertThat(last.bytes()).isEqualTo(7);
    assertThat(last.attribute()).isEqualTo((2L * piece + 7) * MapOutputFiles.RAW_FACTOR);
    assertThat(catalog.find(SCOPE, MapOutputKeys.pieceKeyOf(attempt, 1, 3))).isNull();
  }

  @Test
  void anIndexThatFellOutFindsTheSameFileAgain() throws IOException {
    JobCatalog forgetful = new JobCatalog(files.locator(), new IndexCache(0));
    forgetful.add(JOB);
    BlockKey key = MapOutputFiles.key(JOB, 0, 1);

    BlockLocation first = forgetful.load(SCOPE, key);
    BlockLocation second = forgetful.load(SCOPE, key);

    assertThat(forgetful.find(SCOPE, key)).isNull();
    assertThat(second.file()).as("what is registered of it").isSameAs(first.file());
  }

  @Test
  void anOutputThatChangedIsNotServed() throws IOException {
    JobCatalog forgetful = new JobCatalog(files.locator(), new IndexCache(0));
    forgetful.add(JOB);
    BlockKey key = MapOutputFiles.key(JOB, 0, 1);
    forgetful.load(SCOPE, key);
    Files.delete(files.data(JOB, 0));
    files.write(JOB, 0, 10, 21);

    assertThatThrownBy(() -> forgetful.load(SCOPE, key))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not what was served before");
  }

  @Test
  void unknownScopesAndOddKeysFindNothing() throws IOException {
    catalog.load(SCOPE, MapOutputFiles.key(JOB, 0, 1));
    BlockKey[] odd = {
      new BlockKey(1, 0, 1, 2), new BlockKey(0, 0, 0, 2), new BlockKey(0, Long.MAX_VALUE, 0, 1)
    };
    for (BlockKey key : odd) {
      assertThat(catalog.find(SCOPE, key)).isNull();
      assertThat(catalog.load(SCOPE, key)).isNull();
    }
    assertThat(catalog.find(SCOPE + 1, MapOutputFiles.key(JOB, 0, 1))).isNull();
    assertThat(catalog.load(SCOPE + 1, MapOutputFiles.key(JOB, 0, 1))).isNull();
  }

  @Test
  void aJobUnderACredentialInUseIsNotTaken() throws IOException {
    Job same = new Job(JOB.application(), "bob", new byte[] {1}); // ids follow the application

    assertThat(catalog.add(same)).isFalse();
    catalog.remove(same);

    assertThat(catalog.has(same)).isFalse();
    assertThat(catalog.has(JOB)).isTrue();
    assertThat(catalog.load(SCOPE, MapOutputFiles.key(JOB, 0, 1)).bytes()).isEqualTo(20);
  }

  @Test
  void aJobThatEndedHasNothing() throws IOException {
    BlockKey key = MapOutputFiles.key(JOB, 0, 1);
    catalog.load(SCOPE, key);

    catalog.remove(JOB);

    assertThat(catalog.find(SCOPE, key)).isNull();
    assertThat(catalog.load(SCOPE, key)).isNull();
  }
}
