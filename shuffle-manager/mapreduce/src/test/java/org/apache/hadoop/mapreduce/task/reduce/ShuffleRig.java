package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.mapreduce.reduce.SegmentServer;
import io.rdmashuffle.mapreduce.reduce.TestGates;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.SecretKey;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapred.YarnOutputFiles;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;
import org.apache.hadoop.util.Progress;

/** A reduce task without a cluster: Hadoop's scheduler, mergers and HTTP fetcher, all real. */
final class ShuffleRig implements AutoCloseable {
  static final int PIECE_BYTES = 1000;
  static final TaskAttemptID REDUCE =
      new TaskAttemptID(new TaskID(MapOutputs.JOB, TaskType.REDUCE, 0), 0);

  final JobConf conf = new JobConf(false);
  final SecretKey secret = JobTokenSecretManager.createSecretKey(new byte[20]);
  final SegmentServer rdma;
  final AtomicInteger sessionsClosed = new AtomicInteger();
  final List<Throwable> errors = new CopyOnWriteArrayList<>();
  private final Map<String, Long> counted = new ConcurrentHashMap<>();
  private final Counters counters = new Counters();
  private final ReduceTask task = new TestTask();
  private final List<TaskCompletionEvent> events = new CopyOnWriteArrayList<>();
  private final ReduceStatus status = new ReduceStatus();
  private MapOutputs outputs;
  private HttpNode http;
  private CompressionCodec codec;

  ShuffleRig(Path folder) {
    this(folder, PIECE_BYTES);
  }

  /**
   * @param pieceBytes length of the pieces that RDMA serves
   */
  ShuffleRig(Path folder, int pieceBytes) {
    rdma = new SegmentServer(pieceBytes);
    conf.set(MRConfig.LOCAL_DIR, folder.toString());
    conf.set(MRJobConfig.TASK_ATTEMPT_ID, REDUCE.toString());
    conf.setMapOutputKeyClass(Text.class);
    conf.setMapOutputValueClass(IntWritable.class);
    conf.setOutputKeyComparatorClass(Text.Comparator.class);
    conf.setInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, 2);
    conf.setLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES, 64 << 20);
    conf.setLong(MRJobConfig.MAX_SHUFFLE_FETCH_RETRY_DELAY, 100);
    conf.setInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, 200);
    task.setShuffleSecret(secret);
  }

  /** Makes the outputs; both ways serve them. */
  void maps(int maps, int words) throws IOException {
    writeMaps(maps, words);
    http = new HttpNode(outputs, secret);
    for (TaskAttemptID attempt : outputs.attempts()) {
      rdma.add(attempt, outputs.segment(attempt));
      succeeded(attempt, http.url());
    }
  }

  /** Makes the outputs, for others to serve. */
  void writeMaps(int maps, int words) throws IOException {
    outputs = MapOutputs.of(conf, codec, maps, words);
    conf.setNumMapTasks(maps);
  }

  void compress(CompressionCodec mapOutputCodec) {
    codec = mapOutputCodec;
  }

  /** Tells the reducer of an output, and where it is. */
  void succeeded(TaskAttemptID attempt, String url) {
    tell(attempt, TaskCompletionEvent.Status.SUCCEEDED, url);
  }

  /** Takes it back. */
  void obsolete(TaskAttemptID attempt, String url) {
    tell(attempt, TaskCompletionEvent.Status.OBSOLETE, url);
  }

  private void tell(TaskAttemptID attempt, TaskCompletionEvent.Status what, String url) {
    int map = attempt.getTaskID().getId();
    events.add(new TaskCompletionEvent(events.size(), attempt, map, true, what, url));
  }

  MapOutputs outputs() {
    return outputs;
  }

  HttpNode http() {
    return http;
  }

  /** Maps that the AM would have been told of. */
  List<TaskAttemptID> blamedMaps() {
    return status.blamed;
  }

  /** A job counter that went through Hadoop's reporter. */
  long reported(String name) {
    return counters.findCounter("RDMA Shuffle", name).getValue();
  }

  /** The job counter, 0 if it was never counted. */
  long counted(String name) {
    return counted.getOrDefault(name, 0L);
  }

  long shuffledMaps() {
    return counters.findCounter("t", "shuffledMaps").getValue();
  }

  long failedShuffles() {
    return counters.findCounter("t", "failedShuffle").getValue();
  }

  /** Blocks that came by RDMA and were not closed, once none is on its way any more. */
  int blocksLeft() throws Exception {
    rdma.settle();
    return rdma.blocksOut();
  }

  ReduceSession session() {
    return TestGates.session(rdma, PIECE_BYTES, this::count, sessionsClosed);
  }

  private void count(String name, long n) {
    counted.merge(name, n, Long::sum);
  }

  /** Runs the copy phase and the merge; returns the sum of each word's numbers. */
  Map<String, Integer> run() throws Exception {
    ShuffleConsumerPlugin.Context<Text, IntWritable> context = context();
    CopyPhase<Text, IntWritable> phase;
    try (ReduceSession session = session()) {
      phase = new CopyPhase<>(context, session);
      phase.copy();
    }
    return sums(phase.merge());
  }

  /** As Hadoop runs the plugin, on the device that the configuration names. */
  Map<String, Integer> runPlugin() throws Exception {
    RdmaShuffle<Text, IntWritable> plugin = new RdmaShuffle<>();
    plugin.init(context());
    Map<String, Integer> sums = sums(plugin.run());
    plugin.close();
    return sums;
  }

  static Map<String, Integer> sums(RawKeyValueIterator records) throws IOException {
    Map<String, Integer> sums = new TreeMap<>();
    Text key = new Text();
    IntWritable value = new IntWritable();
    while (records.next()) {
      key.readFields(records.getKey());
      value.readFields(records.getValue());
      sums.merge(key.toString(), value.get(), Integer::sum);
    }
    records.close();
    return sums;
  }

  ShuffleConsumerPlugin.Context<Text, IntWritable> context() throws IOException {
    return context(null);
  }

  /**
   * @param localMapFiles null if the maps ran elsewhere
   */
  ShuffleConsumerPlugin.Context<Text, IntWritable> context(
      Map<TaskAttemptID, MapOutputFile> localMapFiles) throws IOException {
    YarnOutputFiles files = new YarnOutputFiles();
    files.setConf(conf);
    Progress phases = new Progress();
    phases.addPhase("copy");
    return new ShuffleConsumerPlugin.Context<>(
        REDUCE,
        conf,
        FileSystem.getLocal(conf),
        umbilical(),
        new LocalDirAllocator(MRConfig.LOCAL_DIR),
        reporter(),
        codec,
        null,
        null,
        counter("spilledRecords"),
        counter("combineInput"),
        counter("shuffledMaps"),
        counter("shuffleBytes"),
        counter("failedShuffle"),
        counter("mergedMapOutputs"),
        status,
        phases.addPhase("copy2"),
        phases.addPhase("merge"),
        task,
        files,
        localMapFiles);
  }

  Counters.Counter counter(String name) {
    return counters.findCounter("t", name);
  }

  Reporter reporter() {
    return (Reporter)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Reporter.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getCounter" ->
                      arguments.length == 2
                          ? counters.findCounter((String) arguments[0], (String) arguments[1])
                          : counters.findCounter((Enum<?>) arguments[0]);
                  case "getProgress" -> 0f;
                  case "toString" -> "test reporter";
                  default -> null;
                });
  }

  /** Gives every event once. */
  private TaskUmbilicalProtocol umbilical() {
    return (TaskUmbilicalProtocol)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {TaskUmbilicalProtocol.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("getMapCompletionEvents")) {
                return null;
              }
              int from = (int) arguments[1];
              List<TaskCompletionEvent> rest =
                  new ArrayList<>(events.subList(Math.min(from, events.size()), events.size()));
              return new MapTaskCompletionEventsUpdate(
                  rest.toArray(new TaskCompletionEvent[0]), false);
            });
  }

  @Override
  public void close() {
    rdma.close();
    if (http != null) {
      http.close();
    }
  }

  private static final class ReduceStatus extends TaskStatus {
    final List<TaskAttemptID> blamed = new CopyOnWriteArrayList<>();

    @Override
    public boolean getIsMap() {
      return false;
    }

    @Override
    public void addFetchFailedMap(TaskAttemptID map) {
      blamed.add(map);
    }
  }

  /** Tells nobody how it fares. */
  private static final class TestTask extends ReduceTask {
    @Override
    public void statusUpdate(TaskUmbilicalProtocol umbilical) {
      // there is no AM
    }
  }
}
