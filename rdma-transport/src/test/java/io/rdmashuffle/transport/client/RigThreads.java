package io.rdmashuffle.transport.client;

/** Stand-ins for all threads around a client. */
record RigThreads(ManualExecutor copy, ManualExecutor delivery, ManualExecutor slow) {
  RigThreads() {
    this(new ManualExecutor(), new ManualExecutor(), new ManualExecutor());
  }

  int runAll() {
    return slow.runAll() + copy.runAll() + delivery.runAll();
  }

  ClientThreads forClient() {
    return new ClientThreads(copy, delivery);
  }
}
