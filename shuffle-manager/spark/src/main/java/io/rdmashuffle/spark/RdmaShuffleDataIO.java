package io.rdmashuffle.spark;

import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.core.config.RdmaOptions;
import java.lang.reflect.Constructor;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import scala.Tuple2;

/**
 * Wraps the {@code ShuffleDataIO} that the application has configured, to see every commit. It is
 * the only place through which all of Spark's writers go. Made by Spark's sort shuffle manager, by
 * its class name.
 */
public final class RdmaShuffleDataIO implements ShuffleDataIO {
  private static final String KEY = "spark.shuffle.sort.io.plugin.class";
  private static final String DEFAULT = "org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO";

  private static final String MODE_KEY = SparkSettings.PREFIX + RdmaOptions.MODE.key();

  /** Only in the copy of the configuration that the sort shuffle manager gets. */
  private static final String WRAPPED_KEY = "spark.rdmashuffle.wrapped.io.plugin.class";

  private final ShuffleDataIO wrapped;

  /**
   * Called by the sort shuffle manager when its first writer is made, with the copy that {@link
   * #inject} has made.
   */
  public RdmaShuffleDataIO(SparkConf conf) {
    addMissing(conf, SparkHost.env());
    wrapped = load(conf.get(WRAPPED_KEY, DEFAULT), conf);
  }

  /**
   * A copy of the configuration that makes the sort shuffle manager load this class; the
   * configuration itself if RDMA is switched off, so that writers are Spark's own through and
   * through.
   */
  static SparkConf inject(SparkConf conf) {
    if (Mode.OFF.name().equalsIgnoreCase(conf.get(MODE_KEY, "").strip())) {
      return conf;
    }
    return conf.clone()
        .set(WRAPPED_KEY, conf.get(KEY, DEFAULT))
        .set(KEY, RdmaShuffleDataIO.class.getName());
  }

  /**
   * Brings the copy up to date. In local mode it was made before Spark has set the application's id
   * and what the driver's components tell the executor's; the sort shuffle manager reads both next.
   */
  private static void addMissing(SparkConf copy, SparkEnv env) {
    if (env != null) {
      for (Tuple2<String, String> setting : env.conf().getAll()) {
        copy.setIfMissing(setting._1(), setting._2());
      }
    }
  }

  private static ShuffleDataIO load(String className, SparkConf conf) {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    ClassLoader loader = context != null ? context : RdmaShuffleDataIO.class.getClassLoader();
    try {
      Class<?> type = Class.forName(className, true, loader);
      for (Constructor<?> constructor : type.getConstructors()) {
        if (constructor.getParameterCount() == 1
            && constructor.getParameterTypes()[0] == SparkConf.class) {
          return (ShuffleDataIO) constructor.newInstance(conf);
        }
      }
      return (ShuffleDataIO) type.getConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalArgumentException(KEY + "=" + className + " cannot be used", e);
    }
  }

  @Override
  public ShuffleExecutorComponents executor() {
    return new CommitTap(
        wrapped.executor(),
        (shuffleId, mapId, lengths) ->
            SparkHost.manager().ifPresent(ours -> ours.onCommit(shuffleId, mapId, lengths)));
  }

  @Override
  public ShuffleDriverComponents driver() {
    return wrapped.driver();
  }
}
