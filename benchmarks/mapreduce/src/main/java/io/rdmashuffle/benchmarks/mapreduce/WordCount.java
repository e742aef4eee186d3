package io.rdmashuffle.benchmarks.mapreduce;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.StringTokenizer;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Counts words without a combiner, so that every word is shuffled. */
public final class WordCount {
  private static final int VOCABULARY = 5000;

  private WordCount() {}

  /** Called by Hadoop. */
  public static final class Tokenize extends Mapper<LongWritable, Text, Text, IntWritable> {
    private static final IntWritable ONE = new IntWritable(1);
    private final Text word = new Text();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      StringTokenizer words = new StringTokenizer(line.toString());
      while (words.hasMoreTokens()) {
        word.set(words.nextToken());
        context.write(word, ONE);
      }
    }
  }

  /** Called by Hadoop. */
  public static final class Sum extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text word, Iterable<IntWritable> ones, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      for (IntWritable one : ones) {
        sum += one.get();
      }
      context.write(word, new IntWritable(sum));
    }
  }

  /**
   * Writes files of random words, one word a line.
   *
   * @return how often each word occurs in all of them
   */
  public static Map<String, Integer> generate(FileSystem fs, Path folder, int files, int words)
      throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    for (int file = 0; file < files; file++) {
      SplittableRandom random = new SplittableRandom(file);
      try (BufferedWriter out =
          new BufferedWriter(
              new OutputStreamWriter(
                  fs.create(new Path(folder, "part-" + file)), StandardCharsets.UTF_8))) {
        for (int i = 0; i < words; i++) {
          String word = "word" + random.nextInt(VOCABULARY);
          counts.merge(word, 1, Integer::sum);
          out.write(word);
          out.write('\n');
        }
      }
    }
    return counts;
  }

  /** One map per input file. */
  public static Job job(Configuration conf, Path input, Path output, int reduces)
      throws IOException {
    Job job = Job.getInstance(conf, "word count");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(Tokenize.class);
    job.setReducerClass(Sum.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    job.setNumReduceTasks(reduces);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
    return job;
  }

  /** What a job wrote. */
  public static Map<String, Integer> read(FileSystem fs, Path output) throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    for (FileStatus file : fs.listStatus(output, path -> path.getName().startsWith("part-"))) {
      try (BufferedReader in =
          new BufferedReader(
              new InputStreamReader(fs.open(file.getPath()), StandardCharsets.UTF_8))) {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          String[] cells = line.split("\t");
          counts.merge(cells[0], Integer.parseInt(cells[1]), Integer::sum);
        }
      }
    }
    return counts;
  }
}
