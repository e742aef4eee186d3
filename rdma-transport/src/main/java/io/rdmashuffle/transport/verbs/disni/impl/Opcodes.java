package io.rdmashuffle.transport.verbs.disni.impl;

/** Numbers of infiniband/verbs.h that DiSNI has no name for. */
final class Opcodes {
  /** The bit of enum ibv_wc_opcode that all receives have. */
  static final int WC_RECEIVE = 1 << 7;

  private Opcodes() {}
}
