package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.InvitationCodec;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Asks a peer how to reach it, over Spark's own block transfer, and thus with the authentication
 * and encryption configured there: the peer's {@link RdmaBlockResolver} answers for a block that
 * cannot exist.
 *
 * <p>Asked only of executors that have written map outputs: Spark 4.0 and 4.1 keep an executor
 * unusable for shuffle if it is asked before it has a shuffle manager.
 */
final class SparkDiscovery implements Discovery {
  private final Supplier<? extends BlockStoreClient> blockTransfer;
  private final Function<Peer, ExecutorPorts.Place> place;
  private final PeerExecutor executor;

  /**
   * @param blockTransfer the client that talks to executors, never to shuffle services
   * @param place where the executor itself is; may wait
   */
  SparkDiscovery(
      Supplier<? extends BlockStoreClient> blockTransfer,
      Function<Peer, ExecutorPorts.Place> place,
      PeerExecutor executor) {
    this.blockTransfer = blockTransfer;
    this.place = place;
    this.executor = executor;
  }

  @Override
  public CompletableFuture<Invitation> discover(Peer peer) {
    CompletableFuture<Invitation> answer = new CompletableFuture<>();
    executor.execute(peer.id(), new Question(peer, answer));
    return answer;
  }

  private final class Question implements PeerExecutor.Job, BlockFetchingListener {
    private final Peer peer;
    private final CompletableFuture<Invitation> answer;

    Question(Peer peer, CompletableFuture<Invitation> answer) {
      this.peer = peer;
      this.answer = answer;
    }

    @Override
    public void run() {
      if (answer.isDone()) {
        return; // given up while it queued behind other calls to this peer
      }
      try {
        ExecutorPorts.Place found = place.apply(peer);
        if (found instanceof ExecutorPorts.At at) {
          String[] ids = {BlockNames.INVITATION};
          blockTransfer.get().fetchBlocks(peer.host(), at.port(), peer.id(), ids, this, null);
        } else if (found instanceof ExecutorPorts.Unknown) {
          answer.complete(new Invitation.NotYet("the executor's port is not known yet"));
        } else {
          answer.complete(
              new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, "the executor is gone"));
        }
      } catch (RuntimeException e) {
        answer.completeExceptionally(e);
      }
    }

    @Override
    public void abandon() {
      answer.completeExceptionally(new IOException("the shuffle of this process is stopping"));
    }

    @Override
    public void onBlockFetchSuccess(String id, ManagedBuffer data) {
      try {
        answer.complete(InvitationCodec.decode(data.nioByteBuffer()));
      } catch (IOException e) {
        answer.completeExceptionally(e);
      }
    }

    @Override
    public void onBlockFetchFailure(String id, Throwable cause) {
      answer.completeExceptionally(cause);
    }
  }
}
