package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Deletes the output of the first attempt of the first map before the first attempt of the first
 * reduce fetches anything, as a disk that dies would.
 */
public final class LostOutputShuffle<K, V> extends FaultyShuffle<K, V> {
  /** Below which folder NodeManagers keep map outputs. */
  public static final String FOLDER_KEY = "test.lost.output.folder";

  @Override
  Context<K, V> spoil(Context<K, V> context) {
    if (isFirstAttempt(context) && context.getReduceId().getTaskID().getId() == 0) {
      String attempt = "attempt_" + jobNumber(context) + "_m_000000_0";
      try (Stream<Path> files = Files.walk(Path.of(context.getJobConf().get(FOLDER_KEY)))) {
        List<Path> outputs =
            files
                .filter(file -> file.getFileName().toString().startsWith("file.out"))
                .filter(file -> file.getParent().getFileName().toString().equals(attempt))
                .toList();
        if (outputs.isEmpty()) {
          throw new IllegalStateException("no output of " + attempt + " to delete");
        }
        for (Path output : outputs) {
          Files.delete(output);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return context;
  }

  private static String jobNumber(Context<?, ?> context) {
    return context.getReduceId().getJobID().toString().substring("job_".length());
  }
}
