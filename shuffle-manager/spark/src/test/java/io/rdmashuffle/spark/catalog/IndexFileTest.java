package io.rdmashuffle.spark.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class IndexFileTest {
  @TempDir Path folder;
  private Path index;
  private Path data;

  @BeforeEach
  void nameFiles() {
    index = folder.resolve("shuffle_0_1_0.index");
    data = folder.resolve("shuffle_0_1_0.data");
  }

  private void writeIndex(long... offsets) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(offsets.length * Long.BYTES);
    for (long offset : offsets) {
      content.putLong(offset);
    }
    Files.write(index, content.array());
  }

  @Test
  void offsetsAreReadBigEndian() throws IOException {
    writeIndex(0, 3, 3, 300);
    Files.write(data, new byte[300]);
    MapOutput output = IndexFile.read(index, data);
    assertThat(output.partitions()).isEqualTo(3);
    assertThat(output.locate(2, 3).offsetBytes()).isEqualTo(3);
    assertThat(output.locate(2, 3).bytes()).isEqualTo(297);
  }

  @Test
  void emptyOutputNeedsNoDataFile() throws IOException {
    writeIndex(0, 0, 0);
    assertThat(IndexFile.read(index, data).file().bytes()).isZero();
  }

  @Test
  void missingIndexIsNoOutput() throws IOException {
    assertThat(IndexFile.read(index, data)).isNull();
  }

  @Test
  void dataOfAnotherLengthIsRefused() throws IOException {
    writeIndex(0, 3);
    Files.write(data, new byte[2]);
    assertThatThrownBy(() -> IndexFile.read(index, data))
        .isInstanceOf(IOException.class)
        .hasMessage(index + " ends at 3, but " + data + " has 2 bytes");
  }

  @Test
  void missingDataIsRefused() throws IOException {
    writeIndex(0, 3);
    assertThatThrownBy(() -> IndexFile.read(index, data)).isInstanceOf(IOException.class);
  }

  @Test
  void descendingOffsetsAreRefused() throws IOException {
    writeIndex(0, 5, 3);
    Files.write(data, new byte[3]);
    assertThatThrownBy(() -> IndexFile.read(index, data)).hasMessageContaining("offset 2 is 3");
  }

  @Test
  void firstOffsetOtherThanZeroIsRefused() throws IOException {
    writeIndex(1, 3);
    Files.write(data, new byte[3]);
    assertThatThrownBy(() -> IndexFile.read(index, data)).hasMessageContaining("offset 0 is 1");
  }

  @Test
  void tornIndexIsRefused() throws IOException {
    Files.write(index, new byte[17]);
    assertThatThrownBy(() -> IndexFile.read(index, data)).hasMessageContaining("has 17 bytes");
  }
}
