package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.util.DiskChecker.DiskErrorException;

/** Takes map outputs as told, and remembers what became of each. */
final class ScriptedMerger implements MergeManager<Text, IntWritable> {
  private final List<Output> outputs = new CopyOnWriteArrayList<>();
  Reserve reserve = Reserve.ROOM;

  /** What shuffling an output throws, as often as {@link #failures} says. */
  Supplier<Throwable> failure;

  int failures = Integer.MAX_VALUE;

  /** What asking for room gives. */
  enum Reserve {
    ROOM,
    WAIT_AFTER_ONE,
    DISK_FULL
  }

  List<Output> outputs() {
    return outputs;
  }

  long committed() {
    return outputs.stream().mapToInt(o -> o.commits).sum();
  }

  @Override
  public MapOutput<Text, IntWritable> reserve(TaskAttemptID mapId, long size, int fetcher)
      throws IOException {
    if (reserve == Reserve.DISK_FULL) {
      throw new DiskErrorException("no space available");
    }
    if (reserve == Reserve.WAIT_AFTER_ONE && !outputs.isEmpty()) {
      return null;
    }
    Output output = new Output(mapId, size);
    outputs.add(output);
    return output;
  }

  @Override
  public void waitForResource() {
    // there is always room, or it is said at once
  }

  @Override
  public RawKeyValueIterator close() {
    throw new UnsupportedOperationException();
  }

  /** Reads everything, keeps nothing. */
  final class Output extends MapOutput<Text, IntWritable> {
    int commits;
    int aborts;

    Output(TaskAttemptID mapId, long size) {
      super(mapId, size, true);
    }

    @Override
    public void shuffle(
        MapHost host,
        InputStream input,
        long compressedLength,
        long decompressedLength,
        ShuffleClientMetrics metrics,
        Reporter reporter)
        throws IOException {
      if (failure != null && failures > 0) {
        failures--;
        ScriptedMerger.<RuntimeException>raise(failure.get());
      }
      if (input.readNBytes((int) compressedLength).length != compressedLength) {
        throw new IOException("the stream is too short");
      }
    }

    @Override
    public void commit() {
      commits++;
    }

    @Override
    public void abort() {
      aborts++;
    }

    @Override
    public String getDescription() {
      return "TEST";
    }
  }

  /** What Hadoop's local file system throws when it cannot write; nobody else can make one. */
  static Throwable localFileSystemError() {
    try {
      Constructor<FSError> constructor = FSError.class.getDeclaredConstructor(Throwable.class);
      constructor.setAccessible(true);
      return constructor.newInstance(new IOException("no space left on device"));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("FSError has no such constructor", e);
    }
  }

  /** Throws anything, checked or not. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void raise(Throwable cause) throws E {
    throw (E) cause;
  }
}
