package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.util.Collection;

/** A {@link Transport} among equals: it serves blocks, and fetches those of others. */
public interface PeerTransport extends ReadingTransport {
  /** Lets one reader connect, once, soon. From a table in memory; registers nothing. */
  Invitation.Ticket issueTicket();

  /**
   * These files go away: nothing new is granted out of them, and what is registered of them is
   * deregistered in the background, which logs what does not go away in time.
   */
  void forget(Collection<OutputFile> files);
}
