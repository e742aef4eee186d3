package io.rdmashuffle.transport;

import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/** Map outputs of one process: files of blocks one behind the other, with random content. */
final class Outputs implements BlockCatalog {
  private final Path directory;
  private final Map<BlockKey, BlockLocation> locations = new ConcurrentHashMap<>();
  private final Map<BlockKey, byte[]> contents = new ConcurrentHashMap<>();
  private ToLongFunction<BlockKey> attributes = key -> 0;
  private int files;

  Outputs(Path directory) {
    this.directory = directory;
  }

  /** Writes one more map output with blocks of these sizes. */
  List<BlockKey> write(int... blockBytes) throws IOException {
    byte[] content = new byte[Arrays.stream(blockBytes).sum()];
    new Random(files).nextBytes(content);
    Path path = Files.write(directory.resolve("output-" + files), content);
    OutputFile file = new OutputFile(path, content.length);
    List<BlockKey> keys = new ArrayList<>();
    int offset = 0;
    for (int bytes : blockBytes) {
      BlockKey key = new BlockKey(1, files, keys.size(), keys.size() + 1);
      locations.put(key, new BlockLocation(file, offset, bytes));
      contents.put(key, Arrays.copyOfRange(content, offset, offset + bytes));
      keys.add(key);
      offset += bytes;
    }
    files++;
    return keys;
  }

  /** What is said of the blocks from now on. */
  void attributes(ToLongFunction<BlockKey> ofKey) {
    attributes = ofKey;
  }

  byte[] content(BlockKey key) {
    return contents.get(key);
  }

  /** Forgets everything; returns what is to be deleted. */
  Collection<OutputFile> removeAll() {
    List<OutputFile> removed =
        locations.values().stream().map(BlockLocation::file).distinct().toList();
    locations.clear();
    return removed;
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    BlockLocation found = locations.get(key);
    return found == null
        ? null
        : new BlockLocation(
            found.file(), found.offsetBytes(), found.bytes(), attributes.applyAsLong(key));
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) {
    return find(scope, key);
  }
}
