package io.rdmashuffle.mapreduce;

/** Whether a process uses RDMA. */
public enum Switch {
  /** If it finds a usable device; else HTTP, with one line saying why. */
  AUTO,
  /** Never. */
  OFF
}
