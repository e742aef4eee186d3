package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.channel.ReaderChannel.ReplyHandler;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Fetches blocks over one open channel: asks for their places, reads them, gives the leases back.
 * LOCATEs run ahead of the READs, but not by more than a window, so that no owner holds leases for
 * blocks whose turn is far away.
 *
 * <p>Progress thread only. Ends with its channel; {@link #close} ends both.
 */
final class Session implements Fetch.Home {
  private static final byte[] NOTHING = new byte[0];

  private final ClientContext context;
  private final ReaderChannel channel;
  private final PeerHealth health;
  private final Set<Fetch> active = new LinkedHashSet<>();
  private final KeyQueue keys = new KeyQueue();
  private final LocatePace pace;
  private final LeaseReturns leases;
  private final ReadPump reads;
  private final int releaseCredits;
  private final long openedNs;
  private long usedNs;
  private boolean closed;

  /**
   * @param health hears of what the owner does well
   */
  Session(ClientContext context, ReaderChannel channel, PeerHealth health) {
    this.context = context;
    this.channel = channel;
    this.health = health;
    this.pace = new LocatePace(channel.requestCredits());
    this.leases = new LeaseReturns(context.loop(), this::pump);
    this.reads = new ReadPump(context, channel, health, this::pump);
    // One is kept for leases: LOCATEs may be waiting for the memory that these hold.
    this.releaseCredits = channel.requestCredits() > 1 ? 1 : 0;
    this.openedNs = context.loop().nowNs();
    this.usedNs = openedNs;
  }

  void add(Fetch fetch) {
    fetch.moveTo(this);
    active.add(fetch);
    keys.add(fetch);
    usedNs = context.loop().nowNs();
    pump();
  }

  int fetches() {
    return active.size();
  }

  /** Whether anybody waits for something of it. */
  boolean isBusy() {
    return !active.isEmpty() || reads.inFlightBytes() > 0;
  }

  long openedNs() {
    return openedNs;
  }

  /** When a fetch last began or ended here. */
  long usedNs() {
    return usedNs;
  }

  void close(TransportException cause) {
    channel.close(cause);
  }

  /** Reports what is not here yet. What is in flight ends by itself, and is dropped then. */
  void giveUp(FallbackReason reason) {
    for (Fetch fetch : List.copyOf(active)) {
      context.outcomes().fallBackRest(fetch, reason);
    }
  }

  @Override
  public void fetchEnded(Fetch fetch) {
    active.remove(fetch);
    usedNs = context.loop().nowNs();
  }

  /** Does what the channel has credit for. */
  private void pump() {
    if (closed) {
      return;
    }
    reads.pump();
    while (mayLocate()) {
      LocateFrame frame = new LocateFrame(this, pace.mostKeys());
      keys.fill(frame);
      if (frame.size() == 0) {
        break;
      }
      pace.asked();
      channel.request(
          new Request.Locate(frame.keys(), leases.take()), context.requestTimeoutNs(), frame);
    }
    while (leases.isDue() && channel.requestCredits() > 0) {
      release();
    }
  }

  private boolean mayLocate() {
    return channel.requestCredits() > releaseCredits
        && reads.backlogBytes() < context.settings().windowBytes()
        && pace.admits(leases.size());
  }

  private void release() {
    channel.request(
        new Request.Release(leases.take()), context.requestTimeoutNs(), new Acknowledged());
  }

  /**
   * All that a LOCATE brought was read or given up.
   *
   * @param lease 0 for none
   */
  void ended(long lease) {
    pace.ended();
    if (lease == 0 || closed) {
      return;
    }
    try {
      leases.add(lease);
    } catch (OutOfMemoryError e) { // it ends with the connection
      context.loop().fail(e);
    }
  }

  /** The owner answered. Everything is checked before anything is believed. */
  void located(LocateFrame frame, Reply reply) {
    String broken = Answers.whatIsWrong(reply, frame.size());
    if (broken != null) {
      close(new TransportException(Kind.BUG, channel.peerName() + " answered " + broken));
      return;
    }
    Reply.Located located = (Reply.Located) reply;
    List<Reply.Answer> answers = located.answers();
    int granted = Answers.granted(answers);
    health.answered(granted);
    context.device().succeeded();
    frame.granted(located.lease(), granted);
    for (int i = 0; i < answers.size(); i++) {
      answered(frame, i, answers.get(i));
    }
    if (answers.size() < frame.size()) {
      keys.askAgain(frame, answers.size());
    }
    pace.answered(frame.size(), answers.size());
    leases.setUrgent(pace.isShort());
    pump();
  }

  private void answered(LocateFrame frame, int position, Reply.Answer answer) {
    Fetch fetch = frame.fetch(position);
    int index = frame.index(position);
    if (answer instanceof Reply.Granted granted) {
      granted(frame, position, granted);
    } else if (answer instanceof Reply.Inline inline) {
      BlockFacts facts = new BlockFacts(fetch.name(index), inline.attribute(), Block.Source.INLINE);
      context.outcomes().arrived(fetch, index, new HeapBlock(facts, inline.bytes()));
    } else if (answer instanceof Reply.NotByRdma not) {
      context.outcomes().fallBack(fetch, index, not.reason());
    }
  }

  private void granted(LocateFrame frame, int position, Reply.Granted granted) {
    PendingBlock pending = new PendingBlock(frame, position, granted);
    if (pending.bytes() > 0) {
      reads.add(pending);
    } else {
      context
          .outcomes()
          .arrived(pending.fetch(), pending.index(), new HeapBlock(pending.facts(), NOTHING));
      pending.drop();
    }
  }

  /** Lets go of the fetches that may be begun again elsewhere. To be called before closed. */
  List<Fetch> letGo() {
    List<Fetch> again = new ArrayList<>();
    for (Fetch fetch : active) {
      if (fetch.beginAgain()) {
        again.add(fetch);
      }
    }
    again.forEach(active::remove);
    return again;
  }

  /** The channel is closed, all its handlers were told: nothing of it is under way any more. */
  void closed() {
    closed = true;
    try {
      reads.closed();
    } finally {
      leases.close();
      giveUp(FallbackReason.TRANSFER_FAILED);
    }
  }

  /** A Release was answered: its credit is back. */
  private final class Acknowledged implements ReplyHandler {
    @Override
    public void onReply(Reply reply) {
      if (reply instanceof Reply.Released) {
        pump();
      } else {
        String text = channel.peerName() + " answered a Release with " + reply;
        close(new TransportException(Kind.BUG, text));
      }
    }

    @Override
    public void onFailed(TransportException cause) {
      // The channel is closing; closed() follows.
    }
  }
}
