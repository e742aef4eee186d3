package io.rdmashuffle.transport.verbs;

/** A part of {@link VerbsContract}. */
public interface RigTest {
  /** Fresh for each test. */
  VerbsRig rig();
}
