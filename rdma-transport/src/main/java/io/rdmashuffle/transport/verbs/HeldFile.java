package io.rdmashuffle.transport.verbs;

import java.nio.file.Path;

/**
 * A file that is held, so that {@link #path} leads to it and to no other, whatever becomes of its
 * name. It may be anything that has a name: what it is is for the caller to look at. Any thread.
 * Whoever got it closes it.
 */
public interface HeldFile extends AutoCloseable {
  /** Leads to the file until {@link #close}, in this process only. */
  Path path();

  /** Idempotent. */
  @Override
  void close();
}
