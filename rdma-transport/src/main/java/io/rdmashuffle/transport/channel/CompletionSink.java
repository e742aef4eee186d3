package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.WcStatus;

/** Receives the work completions of one connection, on the progress thread. */
interface CompletionSink {
  /**
   * @param op the operation, as given to {@link CompletionTable#wrId}
   * @param bytes what a receive took; 0 for anything else
   */
  void onCompletion(int op, WcStatus status, int bytes, int vendorError);
}
