package io.rdmashuffle.transport.handover;

/** Work that is collected to be handed over at once. Allocates nothing. One thread. */
public final class WorkChain {
  private Work newest;
  private Work oldest;

  public boolean isEmpty() {
    return newest == null;
  }

  /** Adds work that waits nowhere else. */
  public void add(Work work) {
    work.next = newest;
    newest = work;
    if (oldest == null) {
      oldest = work;
    }
  }

  /** Pushes all of it; false if the queue is closed, and nothing has changed. */
  boolean pushTo(WorkQueue queue) {
    if (!queue.push(newest, oldest)) {
      return false;
    }
    newest = null;
    oldest = null;
    return true;
  }

  /** Empties it by abandoning all of it. */
  void abandonAll(Throwable why) {
    for (Work work = turnAround(); work != null; ) {
      Work later = work.next;
      work.next = null;
      work.abandon(why);
      work = later;
    }
  }

  /** Empties it. Returns what was in it, the oldest first. */
  Work turnAround() {
    Work turned = turnAround(newest);
    newest = null;
    oldest = null;
    return turned;
  }

  /** Turns a list linked by {@link Work#next} around. */
  static Work turnAround(Work first) {
    Work turned = null;
    for (Work work = first; work != null; ) {
      Work following = work.next;
      work.next = turned;
      turned = work;
      work = following;
    }
    return turned;
  }
}
