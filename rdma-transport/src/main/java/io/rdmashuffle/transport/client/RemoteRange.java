package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.wire.Reply.Piece;
import java.util.List;

/** A block at its owner, and how far its READs have been posted. Progress thread only. */
final class RemoteRange {
  private final List<Piece> pieces;
  private final long bytes;
  private long leftBytes;
  private int at;
  private int offset;

  RemoteRange(List<Piece> pieces) {
    this.pieces = pieces;
    long sum = 0;
    for (Piece piece : pieces) {
      sum += piece.bytes();
    }
    this.bytes = sum;
    this.leftBytes = sum;
  }

  long bytes() {
    return bytes;
  }

  /** Bytes not yet posted. */
  long leftBytes() {
    return leftBytes;
  }

  /** Bytes that one READ could take; 0 at the end. */
  int contiguous() {
    while (at < pieces.size() && offset == pieces.get(at).bytes()) {
      at++;
      offset = 0;
    }
    return at < pieces.size() ? pieces.get(at).bytes() - offset : 0;
  }

  long address() {
    return pieces.get(at).address() + offset;
  }

  int rkey() {
    return pieces.get(at).rkey();
  }

  void advance(int postedBytes) {
    offset += postedBytes;
    leftBytes -= postedBytes;
  }
}
