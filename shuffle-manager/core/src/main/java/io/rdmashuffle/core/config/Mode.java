package io.rdmashuffle.core.config;

/** Whether a process uses RDMA. */
public enum Mode {
  /** If it finds a usable device; else the engine's own shuffle, with one line saying why. */
  AUTO,
  /** Or the first task that shuffles fails with the reason. */
  REQUIRED,
  /** Never. */
  OFF
}
