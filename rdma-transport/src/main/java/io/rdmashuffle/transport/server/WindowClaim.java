package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.memory.FileWindow;
import io.rdmashuffle.transport.wire.Reply;
import java.util.ArrayList;
import java.util.List;

/**
 * The windows under one block, held for it so that none is evicted, some perhaps still being
 * registered. Ends by {@link WindowCache#release}; a lease keeps it until then. Progress thread
 * only.
 */
final class WindowClaim {
  /** Hears once that no window of the claim is being registered any more. */
  interface Listener {
    void onSettled(WindowClaim claim);
  }

  private final int index;
  private final BlockLocation block;
  private final List<Window> windows = new ArrayList<>(1);
  private final Listener listener;
  private int pending;
  private boolean failed;
  private FallbackReason reason;

  /**
   * @param index of the block in its request, for the listener
   * @param block not empty
   */
  WindowClaim(int index, BlockLocation block, Listener listener) {
    this.index = index;
    this.block = block;
    this.listener = listener;
  }

  int index() {
    return index;
  }

  BlockLocation block() {
    return block;
  }

  List<Window> windows() {
    return windows;
  }

  /** Takes a use of the next window, in order. */
  void hold(Window window) {
    windows.add(window); // first: it may fail
    window.addUse(overlapFrom(window), overlapTo(window));
    if (window.state() == Window.State.REGISTERING) {
      window.await(this);
      pending++;
    }
  }

  boolean isSettled() {
    return pending == 0;
  }

  boolean hasFailed() {
    return failed;
  }

  /** Why the block cannot come by RDMA at all; null if copying it may work. */
  FallbackReason reason() {
    return reason;
  }

  /** Whether the file went away since the windows were claimed. */
  boolean isForgotten() {
    return windows.get(0).entry().isForgotten();
  }

  /** One of the windows it waits for is registered. */
  void onReady() {
    settleOne();
  }

  /**
   * One of the windows it waits for cannot be registered.
   *
   * @param why null if copying the block may work
   */
  void onFailed(FallbackReason why) {
    failed = true;
    if (why != null) {
      reason = why;
    }
    settleOne();
  }

  private void settleOne() {
    if (--pending == 0) {
      listener.onSettled(this);
    }
  }

  /** Where the block lies. Only once settled without failure. */
  List<Reply.Piece> pieces() {
    List<Reply.Piece> pieces = new ArrayList<>(windows.size());
    for (Window window : windows) {
      long from = overlapFrom(window);
      int bytes = (int) (overlapTo(window) - from);
      FileWindow memory = window.memory();
      pieces.add(new Reply.Piece(memory.addressOf(from, bytes), memory.rkey(), bytes));
    }
    return pieces;
  }

  private long overlapFrom(Window window) {
    return Math.max(block.offsetBytes(), window.fromBytes());
  }

  private long overlapTo(Window window) {
    return Math.min(block.offsetBytes() + block.bytes(), window.toBytes());
  }
}
