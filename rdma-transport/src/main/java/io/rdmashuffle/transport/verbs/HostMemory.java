package io.rdmashuffle.transport.verbs;

import java.nio.file.Path;

/**
 * Memory of this process that an adapter can reach: anonymous and file mappings. Any thread; slow
 * calls, not for the progress thread.
 */
public interface HostMemory {
  /** sysconf(_SC_PAGESIZE). Offsets and lengths of windows are multiples of it. */
  int pageBytes();

  /**
   * The limit of bytes this process may pin (RLIMIT_MEMLOCK, getrlimit(2)).
   *
   * @return {@link Long#MAX_VALUE} for unlimited, also for a process with CAP_IPC_LOCK
   */
  long memlockBytes();

  /**
   * Anonymous zeroed memory, kept out of child processes (MADV_DONTFORK, madvise(2)), so that a
   * fork while the adapter writes cannot move its pages.
   */
  Mapping allocate(long bytes) throws VerbsException;

  /**
   * Maps part of a file, shared, never private.
   *
   * @param offsetBytes a multiple of {@link #pageBytes}
   * @param bytes may end behind the file's end only within its last page
   * @param mode how the file is opened and mapped; the bytes are never changed either way
   * @throws VerbsException of kind CONFIG with errno if the file cannot be opened or mapped, or is
   *     shorter than asked
   */
  Mapping mapFile(Path file, long offsetBytes, long bytes, MapMode mode) throws VerbsException;

  /**
   * Holds what lies beneath a directory, without following a link on the way: in directories that
   * others may change, even while this runs. The directory itself is trusted, links to it included.
   * Nothing is opened for reading yet, so that neither a pipe nor a device can do harm.
   *
   * @param relative names only, none of them leading up
   * @return the caller closes it
   * @throws VerbsException of kind CONFIG with errno if there is no such file, or a link on the way
   */
  HeldFile holdBeneath(Path directory, Path relative) throws VerbsException;

  /** How a file window is mapped; which one an adapter accepts depends on the kernel. */
  enum MapMode {
    /** Opened and mapped for reading. */
    READ_ONLY,
    /** Opened and mapped for writing, as kernels before 6.2 demand for pinning. */
    READ_WRITE
  }
}
