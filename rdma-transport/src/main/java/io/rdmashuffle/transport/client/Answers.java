package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Reply.Answer;
import io.rdmashuffle.transport.wire.Reply.Granted;
import io.rdmashuffle.transport.wire.Reply.Located;
import io.rdmashuffle.transport.wire.Reply.Piece;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.List;

/** Checks what owners answer to a LOCATE. */
final class Answers {
  private Answers() {}

  /**
   * @param keys how many were asked for
   * @return null if the reply can be used
   */
  static String whatIsWrong(Reply reply, int keys) {
    if (!(reply instanceof Located located)) {
      return "a LOCATE with " + reply.getClass().getSimpleName();
    }
    int count = located.answers().size();
    if (count == 0 || count > keys) {
      return count + " places for " + keys + " keys";
    }
    for (Answer answer : located.answers()) {
      if (answer instanceof Granted granted) {
        String broken = whatIsWrong(granted.pieces(), located.lease());
        if (broken != null) {
          return broken;
        }
      }
    }
    return null;
  }

  private static String whatIsWrong(List<Piece> pieces, long lease) {
    if (lease == 0) {
      return "a grant without a lease";
    }
    if (pieces.size() > WireLimits.PIECES_PER_BLOCK) {
      return pieces.size() + " pieces for one block, the limit is " + WireLimits.PIECES_PER_BLOCK;
    }
    for (Piece piece : pieces) {
      if (piece.bytes() < 0) {
        return "a piece of " + piece.bytes() + " bytes";
      }
    }
    return null;
  }

  static int granted(List<Answer> answers) {
    int count = 0;
    for (Answer answer : answers) {
      if (answer instanceof Granted) {
        count++;
      }
    }
    return count;
  }
}
