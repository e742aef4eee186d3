package io.rdmashuffle.it.spark;

import io.rdmashuffle.it.app.ExecutorProcesses;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What a soak does to an executor. */
enum Harm {
  /** Its process ends. */
  KILL {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      ExecutorProcesses.kill(executor);
      return true;
    }
  },

  /** Its process stands still. */
  STOP {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      ExecutorProcesses.signal("STOP", executor);
      pause(500 + random.nextInt(9_000));
      ExecutorProcesses.signal("CONT", executor);
      return true;
    }
  },

  /** Its port goes down and comes up again. */
  PORT {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      if (!soak.fault(executor, "async:event=PORT_ERR")) {
        return false;
      }
      pause(500 + random.nextInt(5_000));
      return soak.fault(executor, "async:event=PORT_ACTIVE");
    }
  },

  /** It can make no threads. Spark itself may end an executor that cannot. */
  THREADS {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      ThreadLimit.exhaust(executor);
      pause(500 + random.nextInt(4_000));
      if (executor.isAlive()) {
        ThreadLimit.relieve(executor);
      }
      return true;
    }

    @Override
    boolean mayEndIt() {
      return true;
    }
  },

  /** The kernel takes its adapter away: nothing more can be made or destroyed. */
  LOSS {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      return soak.fault(executor, "lost");
    }

    @Override
    boolean leavesSomething() {
      return true;
    }
  },

  /** Its adapter refuses to destroy a few things. */
  DESTROY {
    @Override
    boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random) throws Exception {
      return soak.fault(
          executor,
          "dereg_mr:after=" + random.nextInt(5) + ",count=2;destroy_qp;qp_break:after=10");
    }

    @Override
    boolean leavesSomething() {
      return true;
    }
  };

  /**
   * Returns once it has happened.
   *
   * @return whether it did: an executor may have no adapter, for instance
   */
  abstract boolean inflict(SubmittedSoak soak, ProcessHandle executor, Random random)
      throws Exception;

  /** Whether the executor keeps what it should not have at the end, and has to be replaced. */
  boolean leavesSomething() {
    return false;
  }

  /** Whether the stock shuffle's executors may end by it, too. */
  boolean mayEndIt() {
    return false;
  }

  private static void pause(long milliseconds) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(milliseconds));
  }
}
