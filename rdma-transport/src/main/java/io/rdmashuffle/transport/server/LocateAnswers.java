package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.WireSizes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The answers of one LOCATE as they become known, and what they hold until a lease takes it over.
 * Progress thread only.
 */
final class LocateAnswers {
  private static final int UNKNOWN = -1;
  private static final Reply.Answer REFUSAL = new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK);

  private final DomainState domain;
  private final Counters counters;
  private final BlockLocation[] blocks;
  private final Reply.Answer[] answers;
  private final WindowClaim[] claims;
  private final List<CopyBatch> copied = new ArrayList<>(0);
  private int answered; // keys from here on are left out
  private int inlineRoomBytes = UNKNOWN;

  /**
   * @param blocks one per key, filled in by the caller before it asks for room; null where there is
   *     none
   */
  LocateAnswers(DomainState domain, Counters counters, BlockLocation[] blocks) {
    this.domain = domain;
    this.counters = counters;
    this.blocks = blocks;
    this.answers = new Reply.Answer[blocks.length];
    this.claims = new WindowClaim[blocks.length];
    this.answered = blocks.length;
  }

  /** Whether a block has neither an answer nor a claim, and is not left out. */
  boolean isOpen(int index) {
    return answers[index] == null && claims[index] == null && !isLeftOut(index);
  }

  /**
   * This key and those behind it are not answered: the reader asks again for them, when it has read
   * what it is granted now.
   *
   * @param index not 0, as every reply answers something
   */
  void leaveOutFrom(int index) {
    answered = Math.min(answered, index);
  }

  boolean isLeftOut(int index) {
    return index >= answered;
  }

  void set(int index, Reply.Answer answer) {
    answers[index] = answer;
  }

  void refuse(int index, FallbackReason reason) {
    answers[index] = new Reply.NotByRdma(reason);
  }

  /** Takes over a claim; once settled it is the answer, unless the block gets another. */
  void claim(WindowClaim claim) {
    claims[claim.index()] = claim;
  }

  boolean isClaimed(WindowClaim claim) {
    return claims[claim.index()] == claim && answers[claim.index()] == null;
  }

  void dropClaim(WindowClaim claim) {
    claims[claim.index()] = null;
    domain.windows().release(claim);
  }

  /**
   * Sets room in the reply aside for a block itself, so that every other key still has room for a
   * piece.
   *
   * @return false if there is none left
   */
  boolean takeInlineRoom(BlockLocation block) {
    if (inlineRoomBytes == UNKNOWN) {
      inlineRoomBytes =
          WireSizes.ANSWERS_BYTES - Stream.of(blocks).mapToInt(LocateAnswers::pieceBytes).sum();
    }
    int inlineBytes = WireSizes.inlineBytes(block.attribute(), (int) block.bytes());
    int extra = Math.max(0, inlineBytes - pieceBytes(block));
    if (extra > inlineRoomBytes) {
      return false;
    }
    inlineRoomBytes -= extra;
    return true;
  }

  /** The least that must be kept free for a block: one piece of it, or the word that it is none. */
  private static int pieceBytes(BlockLocation block) {
    return block == null
        ? WireSizes.atMostBytes(REFUSAL)
        : WireSizes.grantedBytes(block.attribute(), 1);
  }

  /** Takes over the memory of a batch, all of whose jobs have ended. */
  void add(CopyBatch batch) {
    copied.add(batch);
    for (BlockCopy copy : batch.copies()) {
      if (copy.entry().isForgotten()) {
        answers[copy.index()] = REFUSAL; // ready-made: the memory was just taken over
      } else {
        answers[copy.index()] = copy.answer(); // null if a job failed altogether
      }
    }
  }

  /**
   * Makes the reply, with as many answers as fit the frame, and leases what they grant. Everything
   * else, what is left out among it, is given back.
   *
   * @param forTheRest what to say of blocks that are not ready
   */
  Reply.Located take(FallbackReason forTheRest, LeaseTable leases) {
    List<Reply.Answer> fitting = new ArrayList<>(answers.length);
    List<WindowClaim> granted = new ArrayList<>(answers.length);
    int room = WireSizes.ANSWERS_BYTES;
    for (int i = 0; i < answered; i++) {
      Reply.Answer answer = answerOf(i, forTheRest);
      room -= WireSizes.atMostBytes(answer);
      if (room < 0) {
        break;
      }
      fitting.add(answer);
      count(answer);
      if (answer instanceof Reply.Granted g && !g.staged()) {
        granted.add(claims[i]);
      }
    }
    List<CopyBatch> batches = stagedAmong(fitting.size());
    Lease lease = new Lease(granted, batches.stream().map(CopyBatch::memory).toList());
    Reply.Located reply = new Reply.Located(leases.grant(lease), fitting);
    for (int i = 0; i < granted.size(); i++) { // the lease has them now; nothing is allocated
      claims[granted.get(i).index()] = null;
    }
    for (int i = 0; i < batches.size(); i++) {
      batches.get(i).leased();
    }
    abandon();
    return reply;
  }

  private Reply.Answer answerOf(int index, FallbackReason forTheRest) {
    if (answers[index] != null) {
      return answers[index];
    }
    WindowClaim claim = claims[index];
    if (claim == null || !claim.isSettled() || claim.hasFailed()) {
      return new Reply.NotByRdma(forTheRest);
    }
    return claim.isForgotten()
        ? new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK)
        : new Reply.Granted(claim.block().attribute(), false, claim.pieces());
  }

  /** The batches of which a staged block is among the first answers. */
  private List<CopyBatch> stagedAmong(int answered) {
    return copied.stream()
        .filter(
            batch ->
                batch.copies().stream()
                    .anyMatch(
                        c -> c.index() < answered && answers[c.index()] instanceof Reply.Granted))
        .toList();
  }

  private void count(Reply.Answer answer) {
    if (answer instanceof Reply.Granted granted) {
      counters.increment(
          granted.staged() ? Counter.OWNER_BLOCKS_STAGED : Counter.OWNER_BLOCKS_WINDOW);
    } else if (answer instanceof Reply.Inline) {
      counters.increment(Counter.OWNER_BLOCKS_INLINE);
    } else {
      counters.increment(Counter.OWNER_BLOCKS_REFUSED);
    }
  }

  /** Gives back whatever no lease took over. Goes on where it was if it is called again. */
  void abandon() {
    for (int i = 0; i < claims.length; i++) {
      if (claims[i] != null) {
        dropClaim(claims[i]);
      }
    }
    for (int i = 0; i < copied.size(); i++) {
      copied.get(i).giveBack();
    }
    copied.clear();
  }
}
