package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.SecretKey;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;

/** Tries RDMA with a secret that no NodeManager knows; HTTP gets the right one. */
public final class WrongSecretShuffle<K, V> extends FaultyShuffle<K, V> {
  @Override
  Context<K, V> spoil(Context<K, V> context) {
    return replace(context, new Liar(context), context.getReporter());
  }

  /** Lies the first time it is asked, which is for RDMA. */
  private static final class Liar extends ReduceTask {
    private final Task honest;
    private final AtomicBoolean lied = new AtomicBoolean();

    Liar(ShuffleConsumerPlugin.Context<?, ?> context) {
      this.honest = context.getReduceTask();
    }

    @Override
    public SecretKey getShuffleSecret() {
      return lied.compareAndSet(false, true)
          ? JobTokenSecretManager.createSecretKey(new byte[20])
          : honest.getShuffleSecret();
    }

    @Override
    public void statusUpdate(TaskUmbilicalProtocol umbilical) throws IOException {
      honest.statusUpdate(umbilical);
    }
  }
}
