package io.rdmashuffle.transport.protocol;

import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Map outputs with random content, cut into partitions, and the catalog of them. Every second
 * output is found the slow way the first time. Any thread.
 */
public final class Outputs implements BlockCatalog {
  private final Path directory;
  private final Map<Long, Output> known = new ConcurrentHashMap<>();
  private final Map<Long, Output> onDisk = new ConcurrentHashMap<>();
  private int files;

  /**
   * One map output.
   *
   * @param number names it in keys
   * @param offsets where each partition begins, and behind the last one where the file ends
   */
  public record Output(long number, OutputFile file, long[] offsets) {
    /** The key of some partitions. */
    public BlockKey key(int first, int end) {
      return new BlockKey(0, number, first, end);
    }

    /** The key of one partition. */
    public BlockKey key(int partition) {
      return key(partition, partition + 1);
    }

    BlockLocation find(BlockKey key) {
      long from = offsets[key.firstPartition()];
      return new BlockLocation(file, from, offsets[key.endPartition()] - from);
    }

    /** What a block must be, from the file as it is now. */
    public byte[] bytes(BlockKey key) throws IOException {
      BlockLocation where = find(key);
      ByteBuffer content = ByteBuffer.allocate((int) where.bytes());
      try (FileChannel channel = FileChannel.open(file.path())) {
        while (content.hasRemaining()) {
          if (channel.read(content, where.offsetBytes() + content.position()) < 0) {
            throw new IOException(file + " ends too early");
          }
        }
      }
      return content.array();
    }
  }

  public Outputs(Path directory) {
    this.directory = directory;
  }

  /** A new map output whose partitions have these lengths. */
  public Output add(int... partitionBytes) throws IOException {
    long[] offsets = new long[partitionBytes.length + 1];
    for (int i = 0; i < partitionBytes.length; i++) {
      offsets[i + 1] = offsets[i] + partitionBytes[i];
    }
    byte[] content = new byte[(int) offsets[partitionBytes.length]];
    new Random(files).nextBytes(content);
    Path path = Files.write(directory.resolve("output-" + files), content);
    return add(path, offsets);
  }

  /** A map output of three partitions: a hole of so many bytes between two of random content. */
  public Output addSparse(long holeBytes, int partitionBytes) throws IOException {
    byte[] content = new byte[partitionBytes];
    new Random(files).nextBytes(content);
    Path path = directory.resolve("output-" + files);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(content), 0);
      channel.write(ByteBuffer.wrap(content), partitionBytes + holeBytes);
    }
    long second = partitionBytes + holeBytes;
    return add(path, new long[] {0, partitionBytes, second, second + partitionBytes});
  }

  private Output add(Path path, long[] offsets) {
    OutputFile file = new OutputFile(path, offsets[offsets.length - 1]);
    Output output = new Output(files++, file, offsets);
    (files % 2 == 0 ? known : onDisk).put(output.number(), output);
    return output;
  }

  /** The engine forgets it; the server must be told, too. */
  public void remove(Output output) {
    known.remove(output.number());
    onDisk.remove(output.number());
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    Output output = known.get(key.output());
    return output == null ? null : output.find(key);
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) {
    Output output = onDisk.get(key.output());
    if (output != null) {
      known.put(output.number(), output);
    }
    return find(scope, key);
  }
}
