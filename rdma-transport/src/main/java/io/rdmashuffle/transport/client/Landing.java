package io.rdmashuffle.transport.client;

/** Where the bytes of one block go. Progress thread only. */
interface Landing {
  /**
   * Makes room for the next READ, in one piece. Asked again before {@link #take}, it gives the same
   * room.
   *
   * @param wantedBytes above 0
   * @return bytes of room, at most what was wanted; 0 if registered memory is short
   */
  int reserve(int wantedBytes);

  /** Address of the reserved room. */
  long address();

  /** Key of the reserved room. */
  int lkey();

  /**
   * A READ of the reserved room is about to be posted.
   *
   * @return what is to be done when its bytes have arrived; null if they stay where they land
   */
  CopyOut take();

  /** Gives back the memory of a block that is given up. No READ into it is in flight any more. */
  void release();
}
