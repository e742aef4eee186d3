package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class TimerHeapTest {
  private static final long SEED = 11;

  /** Against a sorted map, near the point where nanoTime() wraps. */
  @Test
  void behavesLikeASortedMap() {
    Random random = new Random(SEED);
    long startNs = Long.MAX_VALUE - 500;
    TimerHeap heap = new TimerHeap();
    TreeMap<Long, Integer> model = new TreeMap<>(); // key: offset * 2^20 + order
    List<TimerHeap.Entry> entries = new ArrayList<>();
    List<Long> keys = new ArrayList<>();
    List<Integer> fired = new ArrayList<>();
    long offsetNs = 0;
    for (int i = 0; i < 20_000; i++) {
      int number = i;
      int action = random.nextInt(10);
      if (action < 5) {
        long atNs = offsetNs + random.nextInt(200);
        entries.add(heap.schedule(startNs + atNs, () -> fired.add(number)));
        long key = (atNs << 20) + keys.size();
        keys.add(key);
        model.put(key, number);
      } else if (action < 7 && !entries.isEmpty()) {
        int victim = random.nextInt(entries.size());
        entries.get(victim).cancel();
        model.remove(keys.get(victim));
      } else {
        offsetNs += random.nextInt(30);
        fireAll(heap, startNs + offsetNs);
        List<Integer> expected = new ArrayList<>();
        while (!model.isEmpty() && model.firstKey() >> 20 <= offsetNs) {
          expected.add(model.pollFirstEntry().getValue());
        }
        assertThat(fired).as("seed %d, step %d", SEED, i).isEqualTo(expected);
        fired.clear();
      }
      assertThat(heap.size()).isEqualTo(model.size());
      long next = model.isEmpty() ? 999 : (model.firstKey() >> 20) - offsetNs;
      assertThat(heap.delayNs(startNs + offsetNs, 999)).isEqualTo(next);
    }
  }

  private static void fireAll(TimerHeap heap, long nowNs) {
    for (Runnable task = heap.pollDue(nowNs); task != null; task = heap.pollDue(nowNs)) {
      task.run();
    }
  }
}
