package io.rdmashuffle.spark;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;

/**
 * Makes Spark's sorter, whose only constructor has five parameters up to Spark 4.0 and, since 4.1,
 * a sixth: the row checksums of a writer, of which a reader has none.
 */
final class ExternalSorters {
  private ExternalSorters() {}

  /** A sorter by key, without aggregation or partitioning. */
  static <K, C> ExternalSorter<K, C, C> byKey(
      ShuffleDependency<K, ?, C> dependency, TaskContext context) {
    Constructor<?> constructor = ExternalSorter.class.getConstructors()[0];
    Object[] arguments = new Object[constructor.getParameterCount()];
    arguments[0] = context;
    arguments[1] = Option.empty();
    arguments[2] = Option.empty();
    arguments[3] = dependency.keyOrdering();
    arguments[4] = dependency.serializer();
    if (arguments.length > 5) {
      arguments[5] = Array.newInstance(constructor.getParameterTypes()[5].getComponentType(), 0);
    }
    try {
      @SuppressWarnings("unchecked")
      ExternalSorter<K, C, C> sorter = (ExternalSorter<K, C, C>) constructor.newInstance(arguments);
      return sorter;
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("ExternalSorter cannot be made", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("unknown ExternalSorter: " + constructor, e);
    }
  }
}
