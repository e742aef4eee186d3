package io.rdmashuffle.transport.channel;

/** Numbers that are not in use: the one returned last is taken first. One thread. */
final class FreeList {
  private final int[] free;
  private int size;

  /** All of {@code first} to {@code first + count - 1} are free. */
  FreeList(int first, int count) {
    free = new int[count];
    for (int i = count - 1; i >= 0; i--) {
      free[size++] = first + i;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return size == free.length;
  }

  int take() {
    return free[--size];
  }

  void put(int number) {
    free[size++] = number;
  }
}
