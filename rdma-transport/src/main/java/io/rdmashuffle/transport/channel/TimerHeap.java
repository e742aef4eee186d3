package io.rdmashuffle.transport.channel;

import java.util.Arrays;

/**
 * Timers by due time; those of one time run in the order they were scheduled. Cancelling removes
 * them at once, so that a timer that hardly ever fires costs nothing afterwards. One thread.
 */
final class TimerHeap {
  private Entry[] heap = new Entry[64];
  private int size;
  private long scheduled;

  /** A timer in the heap. */
  final class Entry implements ProgressLoop.Timer {
    private final long atNs;
    private final long order;
    private Runnable task;
    private int index;

    private Entry(long atNs, long order, Runnable task) {
      this.atNs = atNs;
      this.order = order;
      this.task = task;
    }

    @Override
    public void cancel() {
      if (task != null) {
        task = null;
        removeAt(index);
      }
    }

    /** Compares by difference, as System.nanoTime() may be of either sign and wrap. */
    private boolean isBefore(Entry other) {
      long difference = atNs - other.atNs;
      return difference != 0 ? difference < 0 : order < other.order;
    }
  }

  Entry schedule(long atNs, Runnable task) {
    Entry entry = new Entry(atNs, scheduled++, task);
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    place(entry, size++);
    siftUp(entry);
    return entry;
  }

  /** Takes the next task that is due, null if there is none. */
  Runnable pollDue(long nowNs) {
    if (size == 0 || heap[0].atNs - nowNs > 0) {
      return null;
    }
    Entry entry = heap[0];
    Runnable task = entry.task;
    entry.cancel();
    return task;
  }

  /** Time until the next timer is due, at most {@code limitNs}, at least 0. */
  long delayNs(long nowNs, long limitNs) {
    return size == 0 ? limitNs : Math.min(limitNs, Math.max(0, heap[0].atNs - nowNs));
  }

  int size() {
    return size;
  }

  private void removeAt(int index) {
    Entry last = heap[--size];
    heap[size] = null;
    if (index != size) {
      place(last, index);
      siftUp(last);
      siftDown(last);
    }
  }

  private void siftUp(Entry entry) {
    while (entry.index > 0) {
      Entry parent = heap[(entry.index - 1) / 2];
      if (!entry.isBefore(parent)) {
        return;
      }
      swap(entry, parent);
    }
  }

  private void siftDown(Entry entry) {
    for (Entry child = firstChild(entry); child != null; child = firstChild(entry)) {
      if (!child.isBefore(entry)) {
        return;
      }
      swap(child, entry);
    }
  }

  /** The child that is due first, null if there is none. */
  private Entry firstChild(Entry entry) {
    int left = 2 * entry.index + 1;
    if (left >= size) {
      return null;
    }
    boolean rightFirst = left + 1 < size && heap[left + 1].isBefore(heap[left]);
    return rightFirst ? heap[left + 1] : heap[left];
  }

  private void swap(Entry a, Entry b) {
    int index = a.index;
    place(a, b.index);
    place(b, index);
  }

  private void place(Entry entry, int index) {
    heap[index] = entry;
    entry.index = index;
  }
}
