package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is sized by a file's length, which the job's user chooses. */
final class LongFilesTest {
  private static final long TEBIBYTE = 1L << 40;
  @TempDir private Path directory;
  private ServerRig rig;
  private ScriptedOwnerChannel channel;

  @BeforeEach
  void open() throws IOException {
    rig = new ServerRig(directory, ServerSettings.defaults(), ServerRig.UNLIMITED);
    channel = rig.connect();
  }

  @AfterEach
  void close() {
    rig.breakOff(channel);
    rig.close();
  }

  /** Claims to be of that length; on disk it is not, or not there. */
  private OutputFile file(String name, long bytes) {
    return new OutputFile(directory.resolve(name), bytes);
  }

  private static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  @Test
  void tenFilesOf16TebibytesCostLessThanAMebibyte() {
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      OutputFile file = file("long" + i, 16 * TEBIBYTE);
      for (int block = 0; block < 20_000; block++) { // all over the file
        keys.add(rig.block(file, block * (16 * TEBIBYTE / 20_000), 1000));
      }
    }
    rig.locate(channel, keys.get(0));
    long before = usedBytes();

    for (int from = 0; from < keys.size(); from += 200) {
      rig.locate(channel, keys.subList(from, from + 200).toArray(new BlockKey[0]));
      channel.forgetReplies();
    }

    assertThat(usedBytes() - before).isLessThan(1 << 20);
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 52, 1L << 55, 1L << 56, 1L << 62, Long.MAX_VALUE})
  void aFileOfAnyLengthIsAnsweredWithAReason(long bytes) throws IOException {
    OutputFile file = file("endless", bytes);
    BlockKey atStart = rig.block(file, 0, 1 << 20);
    BlockKey atEnd = rig.block(file, bytes - 1000, 1000);
    BlockKey largeAtEnd = rig.block(file, bytes - (1 << 20), 1 << 20);
    BlockKey all = rig.block(file, 0, bytes);
    BlockKey other = rig.block(rig.file(5000), 0, 5000);

    List<Reply.Answer> answers =
        rig.locate(channel, atStart, atEnd, largeAtEnd, all, other).answers();

    Reply.NotByRdma changed = new Reply.NotByRdma(FallbackReason.FILE_CHANGED);
    assertThat(answers)
        .startsWith(changed, changed, changed, new Reply.NotByRdma(FallbackReason.TOO_LARGE));
    assertThat(answers.get(4)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void theEndOfASparseFileIsServed() throws Exception {
    Path path = directory.resolve("sparse");
    long bytes = 2 * TEBIBYTE;
    byte[] end = "the end of a long file".repeat(5000).getBytes(StandardCharsets.US_ASCII);
    try (RandomAccessFile sparse = new RandomAccessFile(path.toFile(), "rw")) {
      sparse.seek(bytes - end.length);
      sparse.write(end);
    }
    OutputFile file = new OutputFile(path, bytes);
    assertThat(rig.fetch(channel, rig.block(file, bytes - end.length, end.length))).isEqualTo(end);
    assertThat(rig.fetch(channel, rig.block(file, bytes - 1000, 1000)))
        .endsWith("file".getBytes(StandardCharsets.US_ASCII));
  }
}
