package io.rdmashuffle.core.doctor;

import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A file of a few blocks whose content every doctor knows, in a folder for map outputs; deleted
 * when closed. Any thread.
 */
final class SampleFile implements BlockCatalog, AutoCloseable {
  static final int BLOCKS = 4;
  static final int BLOCK_BYTES = 1 << 20;

  private static final int SEED = 20_260;

  private final Path path;
  private final OutputFile file;

  private SampleFile(Path path) {
    this.path = path;
    this.file = new OutputFile(path, (long) BLOCKS * BLOCK_BYTES);
  }

  static SampleFile create(Path folder) throws IOException {
    Path path = Files.createTempFile(folder, "rdma-shuffle-doctor", ".data");
    path.toFile().deleteOnExit(); // a doctor that listens is ended by Ctrl-C as well
    try {
      Files.write(path, content());
      return new SampleFile(path);
    } catch (IOException e) {
      Files.deleteIfExists(path);
      throw e;
    }
  }

  static List<BlockKey> keys() {
    return IntStream.range(0, BLOCKS).mapToObj(i -> new BlockKey(0, 0, i, i + 1)).toList();
  }

  static byte[] expected(int block) {
    return Arrays.copyOfRange(content(), block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
  }

  private static byte[] content() {
    byte[] bytes = new byte[BLOCKS * BLOCK_BYTES];
    new Random(SEED).nextBytes(bytes);
    return bytes;
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    boolean known = key.group() == 0 && key.output() == 0 && key.endPartition() <= BLOCKS;
    return known
        ? new BlockLocation(
            file,
            (long) key.firstPartition() * BLOCK_BYTES,
            (long) (key.endPartition() - key.firstPartition()) * BLOCK_BYTES)
        : null;
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) {
    return null; // find knows all there are
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(path);
  }
}
