package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.verbs.VerbsProvider;

/** A provider that counts what it has handed out. */
public interface DisniProvider extends VerbsProvider {
  /**
   * Native objects and mappings that are open now. Back at its earlier value once whoever opened
   * more has closed all of it.
   */
  int openObjects();
}
