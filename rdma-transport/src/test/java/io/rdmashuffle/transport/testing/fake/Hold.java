package io.rdmashuffle.transport.testing.fake;

import java.util.ArrayList;
import java.util.List;

/** Something the fabric keeps back until the test lets it go. Any thread. */
public final class Hold {
  private final FakeFabric fabric;
  private final List<Runnable> kept = new ArrayList<>();
  private boolean released;

  Hold(FakeFabric fabric) {
    this.fabric = fabric;
  }

  /** How many requests, events or queues are kept back. */
  public int count() {
    synchronized (fabric) {
      return kept.size();
    }
  }

  /** Lets everything go, in the order kept, and keeps nothing back any more. Idempotent. */
  public void release() {
    synchronized (fabric) {
      letGo();
      fabric.changed();
    }
  }

  void keep(Runnable onRelease) {
    kept.add(onRelease);
  }

  boolean isReleased() {
    return released;
  }

  void letGo() {
    released = true;
    List<Runnable> all = List.copyOf(kept);
    kept.clear();
    all.forEach(Runnable::run);
  }
}
