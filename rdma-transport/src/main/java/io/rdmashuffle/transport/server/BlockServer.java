package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.channel.OwnerChannel;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;

/**
 * The owner's side as the rest of the process sees it.
 *
 * <p><b>Threads:</b> {@link #acceptor} is used on the progress thread; the rest is for any thread
 * and does not block. Futures complete on the progress thread: what follows them and takes time
 * belongs to another thread.
 */
public interface BlockServer extends AutoCloseable {
  /** To be given to the channel layer. */
  OwnerChannel.Acceptor acceptor();

  /**
   * The files go away: nothing new is granted out of them, windows without leases are deregistered
   * at once, leased ones when their leases end, by force (the connections that hold them are
   * closed) if that takes longer than the settings allow.
   *
   * @return completes when no region over these files is left and they are closed
   */
  CompletableFuture<Void> forget(Collection<OutputFile> files);

  /**
   * A protection domain goes away: the sessions in it are closed, then everything registered in it
   * is deregistered. Readers who come later are closed at once. Its owner may close it once the
   * result completes and no connection belongs to it any more.
   */
  CompletableFuture<Void> forget(ProtectionDomain domain);

  /** Ends every session and lease, deregisters everything. Idempotent, waits with a deadline. */
  @Override
  void close();
}
