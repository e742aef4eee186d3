package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.TestSegment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.TaskType;

/** The outputs of some maps for one reducer, as map tasks write them, and what is in them. */
final class MapOutputs {
  static final JobID JOB = new JobID("1700000000000", 1);

  private final Map<TaskAttemptID, TestSegment> segments = new LinkedHashMap<>();
  private final Map<String, Integer> sums = new TreeMap<>();

  /** The first attempt of a map. */
  static TaskAttemptID attempt(int map) {
    return attempt(map, 0);
  }

  /** One of a map's attempts, by its number. */
  static TaskAttemptID attempt(int map, int number) {
    return new TaskAttemptID(new TaskID(JOB, TaskType.MAP, map), number);
  }

  /** Words with numbers; each map has words of its own and such as others have. */
  static MapOutputs of(JobConf conf, CompressionCodec codec, int maps, int words)
      throws IOException {
    MapOutputs outputs = new MapOutputs();
    for (int map = 0; map < maps; map++) {
      outputs.add(conf, codec, map, words);
    }
    return outputs;
  }

  private void add(JobConf conf, CompressionCodec codec, int map, int words) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    FSDataOutputStream out = new FSDataOutputStream(bytes, null);
    IFile.Writer<Text, IntWritable> writer =
        new IFile.Writer<>(conf, out, Text.class, IntWritable.class, codec, null);
    Map<String, Integer> sorted = new TreeMap<>();
    for (int word = 0; word < words; word++) {
      sorted.put("word-" + word % 50 + "-" + (word % 3 == 0 ? map : word), map + word);
    }
    for (Map.Entry<String, Integer> entry : sorted.entrySet()) {
      writer.append(new Text(entry.getKey()), new IntWritable(entry.getValue()));
      sums.merge(entry.getKey(), entry.getValue(), Integer::sum);
    }
    writer.close();
    out.flush();
    segments.put(attempt(map), TestSegment.of(bytes.toByteArray(), writer.getRawLength()));
  }

  List<TaskAttemptID> attempts() {
    return new ArrayList<>(segments.keySet());
  }

  TestSegment segment(TaskAttemptID attempt) {
    return segments.get(attempt);
  }

  /** The sum of each word's numbers. */
  Map<String, Integer> sums() {
    return sums;
  }

  /** What Hadoop counts as shuffled. */
  long partBytes() {
    return segments.values().stream().mapToLong(TestSegment::partBytes).sum();
  }
}
