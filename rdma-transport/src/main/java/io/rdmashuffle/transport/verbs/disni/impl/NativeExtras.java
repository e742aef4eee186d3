package io.rdmashuffle.transport.verbs.disni.impl;

import java.nio.ByteBuffer;

/**
 * Native methods that DiSNI lacks, in the same library and over the same handles. A closed or wrong
 * handle throws {@link NativeFailure} with EBADF; methods that declare nothing ignore it.
 */
final class NativeExtras {
  private NativeExtras() {}

  /** Sizes and offsets as the library was compiled, in the order of {@link Layout}. */
  static native int[] layout();

  /**
   * Resolves the functions of verbs in these libraries (dlopen(3) names). Once, before anything
   * else.
   *
   * @return null, or what is missing
   */
  static native String loadLibraries(String cmLibrary, String verbsLibrary);

  /**
   * Unloads what {@link #loadLibraries} loaded if nothing of it is left: the software adapter, not
   * the system's libraries. Last, and while no other call of this class or of DiSNI runs.
   */
  static native void unloadLibraries();

  /** Handles that are open now, those of devices left out. */
  static native int openObjects();

  /**
   * Takes and acknowledges one connection event.
   *
   * @param into address of an {@link EventBuffer}
   * @return its type, or -1 after the time or a wake-up
   */
  static native int nextEvent(long channel, long timeoutNs, long into) throws NativeFailure;

  /** Never blocks, never throws. */
  static native void wakeEventChannel(long channel);

  /** rdma_connect(3), with READ depths as deep as the device allows. */
  static native void connect(long id, byte[] privateData) throws NativeFailure;

  /** rdma_accept(3), with READ depths as deep as device and peer allow; leaves no remote right. */
  static native void accept(long id, byte[] privateData) throws NativeFailure;

  /** rdma_reject(3). */
  static native void reject(long id, byte[] privateData) throws NativeFailure;

  static native String deviceName(long device) throws NativeFailure;

  /** In the order of {@link LoadedDevice}. */
  static native long[] deviceAttributes(long device) throws NativeFailure;

  /** Takes one event; its number, or -1 if there is none. Never blocks. */
  static native int asyncEvent(long device) throws NativeFailure;

  /** Sleeps for a completion event, a wake-up or the end of the time. */
  static native void awaitCompletion(long completionChannel, long timeoutNs) throws NativeFailure;

  /** Never blocks, never throws. */
  static native void wakeCompletionChannel(long completionChannel);

  static native void allowRemoteReads(long queuePair, boolean allowed) throws NativeFailure;

  static native void moveToError(long queuePair) throws NativeFailure;

  static native int pageBytes();

  /** RLIMIT_MEMLOCK in bytes, -1 for unlimited. */
  static native long memlockLimit() throws NativeFailure;

  /** Whether this process has CAP_IPC_LOCK in its user namespace. */
  static native boolean mayLockAll();

  /** Anonymous memory that a fork does not inherit; its address. */
  static native long mapAnonymous(long bytes) throws NativeFailure;

  /** A shared mapping of part of a file; its address. ENODATA if the file is shorter. */
  static native long mapFile(String path, long offsetBytes, long bytes, boolean writable)
      throws NativeFailure;

  /**
   * A descriptor (O_PATH) of what the path beneath the directory leads to without following a link:
   * openat2(2). ENOSYS before Linux 5.6, ELOOP at a link, EXDEV where the path leads up.
   */
  static native int openBeneath(String directory, String path) throws NativeFailure;

  /** The same by openat(2), one directory after the other; ENOTDIR at a link to a directory. */
  static native int walkBeneath(String directory, String path) throws NativeFailure;

  static native void closeFile(int descriptor);

  static native void unmap(long address, long bytes) throws NativeFailure;

  /** A direct buffer over memory that the caller keeps mapped. At most 2 GiB - 1. */
  static native ByteBuffer view(long address, long bytes);
}
