package io.rdmashuffle.spark;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** The records of all blocks, one block after the other, counted as they are read. */
final class RecordIterator extends AbstractIterator<Tuple2<Object, Object>> {
  private final Iterator<Tuple2<BlockId, InputStream>> blocks;
  private final SerializerInstance serializer;
  private final ShuffleReadMetricsReporter metrics;
  private Iterator<Tuple2<Object, Object>> current;

  RecordIterator(
      Iterator<Tuple2<BlockId, InputStream>> blocks,
      SerializerInstance serializer,
      ShuffleReadMetricsReporter metrics) {
    this.blocks = blocks;
    this.serializer = serializer;
    this.metrics = metrics;
  }

  @Override
  public boolean hasNext() {
    while (current == null || !current.hasNext()) {
      if (!blocks.hasNext()) {
        return false;
      }
      current = serializer.deserializeStream(blocks.next()._2()).asKeyValueIterator();
    }
    return true;
  }

  @Override
  public Tuple2<Object, Object> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    metrics.incRecordsRead(1);
    return current.next();
  }
}
