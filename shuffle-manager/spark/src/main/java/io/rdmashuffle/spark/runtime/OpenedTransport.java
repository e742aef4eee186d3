package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * A transport that runs, as this package sees it. Any thread; no method blocks except {@link
 * #close}. Owned by the {@link ShuffleRuntime} that opened it.
 */
public interface OpenedTransport extends AutoCloseable {
  /** The adapter, its port and address, for users. */
  String device();

  /** Owned by the transport. */
  BlockClient client();

  /**
   * These files go away: nothing new is granted out of them, and what is registered of them is
   * deregistered in the background. As {@code BlockServer.forget}.
   */
  void forget(Collection<OutputFile> files);

  /** Lets one reader connect, once, soon. From a table in memory; registers nothing. */
  Invitation.Ticket issueTicket();

  Counters counters();

  /** What is registered, pinned and connected now, by the name users see. */
  Map<String, Long> levels();

  /** Completes with the reason when the adapter is gone for good; whoever hears must not wait. */
  CompletionStage<String> lost();

  /** Idempotent. Waits a few seconds at most. */
  @Override
  void close();
}
