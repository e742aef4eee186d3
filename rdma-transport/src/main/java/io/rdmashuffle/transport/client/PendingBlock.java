package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.client.Block.Source;
import io.rdmashuffle.transport.wire.Reply.Granted;

/** A block that was granted and is not yet here. Progress thread only. */
final class PendingBlock {
  private final Fetch fetch;
  private final int index;
  private final LocateFrame frame;
  private final RemoteRange remote;
  private final BlockFacts facts;
  private Landing landing;
  private int readsInFlight;
  private boolean dropped;
  private PendingBlock next; // of those whose READs are not all posted

  /**
   * @param position of its key in the frame
   * @param granted what the owner answered
   */
  PendingBlock(LocateFrame frame, int position, Granted granted) {
    this.fetch = frame.fetch(position);
    this.index = frame.index(position);
    this.frame = frame;
    this.remote = new RemoteRange(granted.pieces());
    Source source = granted.staged() ? Source.STAGED : Source.READ;
    this.facts = new BlockFacts(fetch.name(index), granted.attribute(), source);
  }

  Fetch fetch() {
    return fetch;
  }

  int index() {
    return index;
  }

  BlockName name() {
    return facts.name();
  }

  BlockFacts facts() {
    return facts;
  }

  long bytes() {
    return remote.bytes();
  }

  RemoteRange remote() {
    return remote;
  }

  PendingBlock next() {
    return next;
  }

  void setNext(PendingBlock following) {
    next = following;
  }

  /** Where its bytes go, null before its first READ. */
  Landing landing() {
    return landing;
  }

  void landIn(Landing place) {
    landing = place;
  }

  boolean isGivenUp() {
    return dropped || fetch.isReported(index);
  }

  void readPosted(int bytes) {
    remote.advance(bytes);
    readsInFlight++;
    if (remote.leftBytes() == 0) {
      fetch.reading(index);
    }
  }

  /**
   * One of its READs completed.
   *
   * @return whether that was the last one, so that the caller has the whole block
   */
  boolean readCompleted() {
    readsInFlight--;
    if (readsInFlight > 0) {
      return false;
    }
    if (dropped) {
      release();
      return false;
    }
    if (remote.leftBytes() > 0) {
      return false;
    }
    frame.blockEnded();
    return true;
  }

  /** One of its READs failed, and with it the channel. */
  void readFailed() {
    dropped = true;
    readsInFlight--;
    fetch.readFailed(index);
    if (readsInFlight == 0) {
      release();
    }
  }

  /** Posts no more of it. Its memory is given back as soon as no READ is in flight. */
  void drop() {
    if (dropped) {
      return;
    }
    dropped = true;
    if (readsInFlight == 0) {
      release();
    }
  }

  private void release() {
    if (landing != null) {
      landing.release();
      landing = null;
    }
    frame.blockEnded();
  }
}
