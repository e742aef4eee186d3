package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.ArrayList;
import java.util.List;

/**
 * One LOCATE on its way to its answer, in up to four steps: look the keys up, claim what has
 * windows, register or copy the rest, copy what could not be registered. A step with nothing to do
 * takes no other thread. When the time is over it answers with what is ready.
 *
 * <p>Progress thread, except {@link #isFinished}.
 */
final class LocateCall implements WindowClaim.Listener, CopyBatch.Listener {
  private static final byte[] EMPTY = {};

  private final ServerParts parts;
  private final ServerSession session;
  private final int requestId;
  private final List<BlockKey> keys;
  private final BlockLocation[] blocks;
  private final LocateAnswers answers;
  private final List<CopyBatch> copying = new ArrayList<>(0);
  private final List<Integer> toCopy = new ArrayList<>(0); // what could not be registered
  private int openLoads;
  private int openClaims;
  private ProgressLoop.Timer deadline;
  private volatile boolean finished;

  LocateCall(ServerParts parts, ServerSession session, int requestId, List<BlockKey> keys) {
    this.parts = parts;
    this.session = session;
    this.requestId = requestId;
    this.keys = keys;
    this.blocks = new BlockLocation[keys.size()];
    this.answers = new LocateAnswers(session.domain(), parts.counters(), blocks);
  }

  int keys() {
    return keys.size();
  }

  boolean isFinished() {
    return finished;
  }

  /** Answers at once if it can; whatever goes wrong otherwise, the deadline answers. */
  void start() {
    try {
      lookUp();
    } finally {
      if (!finished) {
        long timeoutNs = parts.settings().locateTimeout().toNanos();
        deadline = parts.loop().schedule(timeoutNs, this::expire);
      }
    }
  }

  // ---- looking up

  private void lookUp() {
    List<Integer> unknown = new ArrayList<>(0);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = find(keys.get(i));
      if (blocks[i] == null) {
        unknown.add(i);
      }
    }
    if (unknown.isEmpty()) {
      serve();
    } else {
      load(unknown);
    }
  }

  private BlockLocation find(BlockKey key) {
    try {
      return parts.catalog().find(session.scope(), key);
    } catch (RuntimeException e) {
      parts.reports().catalogFailed(session.host(), session.scope(), key, e);
      return null;
    }
  }

  private void load(List<Integer> indices) {
    for (int from = 0; from < indices.size(); from += CatalogLoad.MOST_KEYS) {
      int to = Math.min(from + CatalogLoad.MOST_KEYS, indices.size());
      int[] some = indices.subList(from, to).stream().mapToInt(Integer::intValue).toArray();
      if (session.lane().isFull()) {
        refuse(indices.subList(from, indices.size()), FallbackReason.OVERLOADED);
        break;
      }
      openLoads++;
      session.lane().submit(new CatalogLoad(this, parts, session, keys, some));
    }
    if (openLoads == 0) {
      serve();
    }
  }

  void onLoaded(int[] indices, BlockLocation[] found) {
    openLoads--;
    if (finished) {
      return;
    }
    for (int i = 0; i < indices.length; i++) {
      blocks[indices[i]] = found[i];
      if (found[i] == null) {
        answers.refuse(indices[i], FallbackReason.UNKNOWN_BLOCK);
      }
    }
    if (openLoads == 0) {
      serve();
    }
  }

  // ---- claiming and registering

  private void serve() {
    List<Integer> misses = claim();
    if (!misses.isEmpty() && session.lane().isFull()) {
      refuse(misses, FallbackReason.OVERLOADED);
    } else if (!misses.isEmpty()) {
      List<BlockLocation> missed = new ArrayList<>(misses.size());
      misses.forEach(i -> missed.add(blocks[i]));
      session.domain().planner().plan(missed, session.lane());
      copy(claim());
    }
    proceed();
  }

  /** Claims what has windows, settles what needs none. Returns the rest. */
  private List<Integer> claim() {
    List<Integer> misses = new ArrayList<>(0);
    for (int i = 0; i < blocks.length; i++) {
      if (blocks[i] != null && answers.isOpen(i) && !claim(i)) {
        misses.add(i);
      }
    }
    return misses;
  }

  private boolean claim(int index) {
    BlockLocation block = blocks[index];
    if (block.bytes() == 0) {
      answers.set(index, new Reply.Inline(block.attribute(), EMPTY));
      return true;
    }
    WindowCache windows = session.domain().windows();
    FileEntry entry = windows.entry(block.file());
    if (entry == null) {
      answers.refuse(index, FallbackReason.UNKNOWN_BLOCK);
      return true;
    }
    WindowClaim claim = windows.claim(entry, index, block, this);
    if (claim == null) {
      return false;
    }
    answers.claim(claim);
    if (claim.windows().size() > WireLimits.PIECES_PER_BLOCK) {
      answers.refuse(index, FallbackReason.TOO_LARGE);
    } else if (!claim.isSettled()) {
      openClaims++;
    }
    return true;
  }

  /** A window that this call waits for is registered, or cannot be. */
  @Override
  public void onSettled(WindowClaim claim) {
    if (finished || !answers.isClaimed(claim)) {
      return;
    }
    openClaims--;
    if (claim.hasFailed()) {
      answers.dropClaim(claim);
      if (claim.reason() == null) {
        toCopy.add(claim.index());
      } else {
        answers.refuse(claim.index(), claim.reason());
      }
    }
    proceed();
  }

  // ---- copying

  private void copy(List<Integer> indices) {
    Staging staging = session.domain().staging();
    StagingLayout layout = staging.newLayout();
    List<BlockCopy> copies = new ArrayList<>(indices.size());
    for (int index : indices) {
      BlockCopy copy = answers.isLeftOut(index) ? null : planCopy(index, layout);
      if (copy != null) {
        copies.add(copy);
      }
    }
    if (!copies.isEmpty()) {
      CopyBatch batch = new CopyBatch(session.domain(), parts, copies, this);
      copying.add(batch);
      batch.start(layout.chunks(), session.lane());
    }
  }

  private BlockCopy planCopy(int index, StagingLayout layout) {
    BlockLocation block = blocks[index];
    FileEntry entry = session.domain().windows().entry(block.file());
    if (entry == null) {
      answers.refuse(index, FallbackReason.UNKNOWN_BLOCK);
      return null;
    }
    boolean tiny = block.bytes() <= parts.settings().inlineBytes();
    if (tiny && answers.takeInlineRoom(block)) {
      return new BlockCopy(index, entry, block, null);
    }
    if (layout.pieces(block.bytes()) > WireLimits.PIECES_PER_BLOCK) {
      answers.refuse(index, FallbackReason.TOO_LARGE);
      return null;
    }
    StagingLayout.Place place = layout.add(block.bytes());
    if (place == null && index > 0 && layout.fitsAlone(block.bytes())) {
      answers.leaveOutFrom(index); // others of this request have taken the room
      session.domain().staging().growSoon();
      return null;
    }
    if (place == null) {
      answers.refuse(index, FallbackReason.OWNER_NO_MEMORY);
      return null;
    }
    return new BlockCopy(index, entry, block, place);
  }

  @Override
  public void onCopied(CopyBatch batch) {
    answers.add(batch);
    copying.remove(batch);
    proceed();
  }

  // ---- answering

  private void proceed() {
    if (openLoads > 0 || openClaims > 0) {
      return;
    }
    if (!toCopy.isEmpty()) {
      List<Integer> indices = toCopy.stream().sorted().toList();
      toCopy.clear();
      copy(indices);
    }
    if (copying.isEmpty()) {
      finish(FallbackReason.OVERLOADED);
    }
  }

  private void expire() {
    if (openLoads > 0) {
      claim(); // other keys may need nothing but their windows
    }
    boolean noMemory = copying.stream().anyMatch(CopyBatch::isWaiting);
    finish(noMemory ? FallbackReason.OWNER_NO_MEMORY : FallbackReason.OVERLOADED);
  }

  private void finish(FallbackReason forTheRest) {
    end();
    session.answer(this, requestId, answers.take(forTheRest, session.leases()));
  }

  /** The reader is gone. */
  void abandon() {
    end();
    answers.abandon();
  }

  private void end() {
    finished = true;
    if (deadline != null) {
      deadline.cancel();
    }
    for (int i = 0; i < copying.size(); i++) {
      copying.get(i).abandon();
    }
    copying.clear();
  }

  private void refuse(List<Integer> indices, FallbackReason reason) {
    indices.forEach(i -> answers.refuse(i, reason));
  }
}
