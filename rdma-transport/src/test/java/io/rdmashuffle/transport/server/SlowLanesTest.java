package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ManualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class SlowLanesTest {
  private final ManualLoop loop = new ManualLoop();
  private final ManualPool pool = new ManualPool();
  private final SlowLanes lanes = new SlowLanes(loop, pool, 1);
  private final List<String> ran = new ArrayList<>();
  private final List<Throwable> outcomes = new ArrayList<>();

  private SlowLanes.Job job(String name) {
    return new SlowLanes.Job() {
      @Override
      public void run() {
        ran.add(name);
        if (name.startsWith("bad")) {
          throw new IllegalStateException(name);
        }
      }

      @Override
      public void onDone(Throwable failure) {
        outcomes.add(failure);
      }
    };
  }

  private void runAll() {
    do {
      loop.runAll();
    } while (pool.runOne());
  }

  @Test
  void lanesTakeTurnsHoweverManyJobsOneHas() {
    SlowLanes.Lane greedy = lanes.newLane(100);
    SlowLanes.Lane modest = lanes.newLane(100);
    for (int i = 0; i < 4; i++) {
      greedy.submit(job("greedy" + i));
    }
    modest.submit(job("modest0"));
    modest.submit(job("modest1"));

    runAll();

    assertThat(ran)
        .containsExactly("greedy0", "greedy1", "modest0", "greedy2", "modest1", "greedy3");
  }

  @Test
  void noMoreJobsThanAllowedAreInThePool() {
    SlowLanes two = new SlowLanes(loop, pool, 2);
    SlowLanes.Lane lane = two.newLane(100);
    for (int i = 0; i < 5; i++) {
      lane.submit(job("job" + i));
    }

    assertThat(pool.waiting()).isEqualTo(2);
    assertThat(lane.isFull()).isFalse();

    runAll();
    assertThat(ran).hasSize(5);
  }

  @Test
  void aFailureReachesItsJobAndTheNextOneRuns() {
    SlowLanes.Lane lane = lanes.newLane(100);
    lane.submit(job("bad"));
    lane.submit(job("good"));

    runAll();

    assertThat(outcomes).hasSize(2);
    assertThat(outcomes.get(0)).hasMessage("bad");
    assertThat(outcomes.get(1)).isNull();
  }

  @Test
  void aPoolThatRefusesFailsTheJobLater() {
    pool.shut();
    lanes.newLane(100).submit(job("never"));
    assertThat(outcomes).isEmpty();

    runAll();

    assertThat(outcomes).singleElement().isInstanceOf(RejectedExecutionException.class);
    assertThat(ran).isEmpty();
  }

  @Test
  void aLaneKnowsItsBound() {
    SlowLanes.Lane lane = lanes.newLane(2);
    lane.submit(job("running"));
    lane.submit(job("waiting0"));
    assertThat(lane.isFull()).isFalse();
    lane.submit(job("waiting1"));
    assertThat(lane.isFull()).isTrue();
  }
}
