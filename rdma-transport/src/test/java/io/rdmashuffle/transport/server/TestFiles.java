package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/** Files with random content, and a catalog of blocks in them. */
final class TestFiles {
  private final Path directory;
  private final MapCatalog catalog = new MapCatalog();
  private int files;
  private long outputs;

  TestFiles(Path directory) {
    this.directory = directory;
  }

  MapCatalog catalog() {
    return catalog;
  }

  /** A new file. */
  OutputFile file(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes * 31L + files).nextBytes(content);
    return new OutputFile(Files.write(directory.resolve("output" + files++), content), bytes);
  }

  /** Names a range of a file, known to the catalog from now on. */
  BlockKey block(OutputFile file, long offset, long bytes) {
    BlockKey key = newKey();
    catalog.put(key, new BlockLocation(file, offset, bytes));
    return key;
  }

  /** A key that the catalog does not know. */
  BlockKey newKey() {
    return new BlockKey(0, outputs++, 0, 1);
  }

  static byte[] bytes(OutputFile file, long offset, long bytes) throws IOException {
    byte[] all = Files.readAllBytes(file.path());
    return Arrays.copyOfRange(all, (int) offset, (int) (offset + bytes));
  }
}
