package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRequest;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Reply.Answer;
import io.rdmashuffle.transport.wire.Reply.Piece;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A process that owns blocks: answers LOCATEs and keeps count of leases. What lies at an address of
 * its memory follows from the address, so that each byte that arrives can be checked.
 */
final class Owner {
  private static final int RKEY = 0x77;

  private final Map<BlockKey, List<Piece>> places = new HashMap<>();
  private final Set<Long> leases = new HashSet<>();
  private Function<BlockKey, Answer> answers = this::granted;
  private long nextAddress = 0x5000_0000L;
  private long nextLease = 1;
  private int blockBytes;
  private int answersPerReply = Integer.MAX_VALUE;

  /**
   * @param blockBytes size of blocks not placed otherwise
   */
  Owner(int blockBytes) {
    this.blockBytes = blockBytes;
  }

  /** Gives the block these pieces. */
  Owner place(BlockKey key, int... pieceBytes) {
    List<Piece> pieces = new ArrayList<>();
    for (int bytes : pieceBytes) {
      pieces.add(new Piece(nextAddress, RKEY, bytes));
      nextAddress += bytes + 8192; // pieces are apart
    }
    places.put(key, pieces);
    return this;
  }

  /** Answers with something else than a grant; null for a grant. */
  void answerWith(Function<BlockKey, Answer> special) {
    answers =
        key -> {
          Answer answer = special.apply(key);
          return answer == null ? granted(key) : answer;
        };
  }

  void answersPerReply(int limit) {
    answersPerReply = limit;
  }

  Answer granted(BlockKey key) {
    return new Reply.Granted(0, false, pieces(key));
  }

  Answer staged(BlockKey key) {
    return new Reply.Granted(0, true, pieces(key));
  }

  private List<Piece> pieces(BlockKey key) {
    if (!places.containsKey(key)) {
      place(key, blockBytes);
    }
    return places.get(key);
  }

  /** What the block's bytes are. */
  byte[] content(BlockKey key) {
    List<Piece> pieces = pieces(key);
    ByteBuffer content = ByteBuffer.allocate(pieces.stream().mapToInt(Piece::bytes).sum());
    for (Piece piece : pieces) {
      for (int i = 0; i < piece.bytes(); i++) {
        content.put(byteAt(piece.address() + i));
      }
    }
    return content.array();
  }

  static byte byteAt(long address) {
    return (byte) (address * 31 ^ address >> 7 ^ address >> 13);
  }

  /** The right reply to any request. */
  Reply reply(Request request) {
    if (request instanceof Request.Release release) {
      end(release.leases());
      return new Reply.Released();
    }
    Request.Locate locate = (Request.Locate) request;
    end(locate.releases());
    assertThat(leases.size())
        .as("leases held")
        .isLessThan(WireLimits.mostLeases(ScriptedOwnerChannel.REQUESTS));
    List<Answer> found = new ArrayList<>();
    for (BlockKey key : locate.keys()) {
      if (found.size() < answersPerReply) {
        found.add(answers.apply(key));
      }
    }
    boolean grants = found.stream().anyMatch(Reply.Granted.class::isInstance);
    long lease = grants ? nextLease++ : 0;
    if (grants) {
      leases.add(lease);
    }
    return new Reply.Located(lease, found);
  }

  void answer(PendingRequest request) {
    request.reply(reply(request.request()));
  }

  /** Leases granted and not given back. */
  int leases() {
    return leases.size();
  }

  /** The connection is gone, and with it all leases. */
  void disconnected() {
    leases.clear();
  }

  private void end(long[] released) {
    for (long lease : released) {
      assertThat(leases.remove(lease)).as("lease %s was open", lease).isTrue();
    }
  }
}
