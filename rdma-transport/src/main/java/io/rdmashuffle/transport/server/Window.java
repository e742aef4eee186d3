package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.FileWindow;
import java.util.ArrayList;
import java.util.List;

/**
 * A page-aligned range of a file, registered or on its way there. Driven by {@link WindowCache}.
 * Progress thread only.
 */
final class Window {
  /** A window lives through these in order; a failed registration skips READY. */
  enum State {
    REGISTERING,
    READY,
    GONE
  }

  private static final int LEAST_CHARGE_BYTES = 4 << 10;
  private final FileEntry entry;
  private final long fromBytes;
  private final long toBytes;
  private List<WindowClaim> waiting = new ArrayList<>(1);
  private final IdleWindows.Place idlePlace = new IdleWindows.Place(this);
  private State state = State.REGISTERING;
  private FileWindow memory;
  private int uses;
  private boolean retired;
  private long servedBytes;
  private long servedFromBytes = Long.MAX_VALUE;
  private long servedToBytes;

  /**
   * @param fromBytes offset in the file, page-aligned
   * @param toBytes behind the last byte, page-aligned: may lie behind the file's end, in its page
   */
  Window(FileEntry entry, long fromBytes, long toBytes) {
    this.entry = entry;
    this.fromBytes = fromBytes;
    this.toBytes = toBytes;
  }

  FileEntry entry() {
    return entry;
  }

  long fromBytes() {
    return fromBytes;
  }

  long toBytes() {
    return toBytes;
  }

  long bytes() {
    return toBytes - fromBytes;
  }

  /** Where it is when nobody uses it. */
  IdleWindows.Place idlePlace() {
    return idlePlace;
  }

  State state() {
    return state;
  }

  /** Null unless READY, or GONE and not yet closed. */
  FileWindow memory() {
    return memory;
  }

  /** Nothing new is granted out of it; it goes when its last use ends. */
  boolean isRetired() {
    return retired;
  }

  void retire() {
    retired = true;
  }

  boolean isUsed() {
    return uses > 0;
  }

  /**
   * A block, or the part of it that lies here, is granted.
   *
   * @param from offset in the file
   * @param to behind its last byte
   */
  void addUse(long from, long to) {
    uses++;
    servedBytes += chargeOf(to - from);
    servedFromBytes = Math.min(servedFromBytes, from);
    servedToBytes = Math.max(servedToBytes, to);
  }

  /** Returns whether it was the last one. */
  boolean endUse() {
    if (uses == 0) {
      throw new IllegalStateException("no use of " + this + " to end");
    }
    return --uses == 0;
  }

  /** Whether it has served what was asked of it twice: then it was worth its registration. */
  boolean hasPaid() {
    return servedBytes >= 2 * (isOversized() ? askedBytes() : bytes());
  }

  /** Whether it grew for nothing: asked for again, but an eighth of it, or more, never at all. */
  boolean isOversized() {
    long asked = askedBytes();
    return asked > 0 && bytes() - asked >= bytes() / 8 + 1 && servedBytes >= 2 * asked;
  }

  /** The pages from the first byte granted to the last. */
  private long askedBytes() {
    return servedToBytes == 0
        ? 0
        : entry.pages().up(servedToBytes) - entry.pages().down(servedFromBytes);
  }

  /** What serving so many bytes counts for: copying costs something beside the bytes. */
  static long chargeOf(long bytes) {
    return Math.max(LEAST_CHARGE_BYTES, bytes);
  }

  void await(WindowClaim claim) {
    waiting.add(claim);
  }

  void becomeReady(FileWindow registered) {
    memory = registered;
    state = State.READY;
  }

  void becomeGone() {
    state = State.GONE;
  }

  /** Those that wait for the registration, who will not be told again. */
  List<WindowClaim> takeWaiting() {
    List<WindowClaim> taken = waiting;
    waiting = List.of();
    return taken;
  }

  @Override
  public String toString() {
    return entry.file().path() + " [" + fromBytes + ", " + toBytes + ")";
  }
}
