package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;

/** Turns an errno into an exception that says what failed, for whom, and what it means. */
final class Failures {
  static final int EBADF = 9;
  static final int ENODEV = 19;
  static final int EINVAL = 22;
  static final int EPERM = 1;
  static final int ENOSYS = 38;
  static final int ENODATA = 61;
  static final int ENOTCONN = 107;

  private record Errno(String name, Kind kind) {}

  private Failures() {}

  /**
   * @param subject what the call was for, to follow its name: "of 4096 bytes", "to 10.0.0.1:7"
   */
  static VerbsException of(IOException failure, String subject) {
    if (failure instanceof NativeFailure failed) {
      return of(failed.getMessage(), subject, failed.errno());
    }
    return new VerbsException(Kind.BUG, failure.getMessage() + " " + subject, failure);
  }

  static VerbsException of(String call, String subject, int errno) {
    Errno known = known(errno);
    return new VerbsException(
        known.kind(), call + " " + subject + ": " + known.name() + " (" + errno + ")", errno);
  }

  static VerbsException closed(String what) {
    return new VerbsException(Kind.BUG, what + " is closed", EBADF);
  }

  /** For close methods, which have no caller who could do anything about it. */
  static void checkClosed(int result, String call, String subject) {
    if (result < 0) {
      throw new IllegalStateException(of(call, subject, -result).getMessage());
    }
  }

  private static Errno known(int errno) {
    return switch (errno) {
      case EPERM -> new Errno("EPERM", Kind.CONFIG);
      case 2 -> new Errno("ENOENT", Kind.CONFIG);
      case 4 -> new Errno("EINTR", Kind.RETRY);
      case 5 -> new Errno("EIO", Kind.CONFIG);
      case EBADF -> new Errno("EBADF", Kind.BUG);
      case 11 -> new Errno("EAGAIN", Kind.RETRY);
      case 12 -> new Errno("ENOMEM", Kind.RETRY);
      case 13 -> new Errno("EACCES", Kind.CONFIG);
      case 14 -> new Errno("EFAULT", Kind.CONFIG);
      case 16 -> new Errno("EBUSY", Kind.BUG);
      case 17 -> new Errno("EEXIST", Kind.BUG);
      case ENODEV -> new Errno("ENODEV", Kind.CONFIG);
      case 20 -> new Errno("ENOTDIR", Kind.CONFIG);
      case 21 -> new Errno("EISDIR", Kind.CONFIG);
      case EINVAL -> new Errno("EINVAL", Kind.BUG);
      case 23 -> new Errno("ENFILE", Kind.CONFIG);
      case 24 -> new Errno("EMFILE", Kind.CONFIG);
      case 26 -> new Errno("ETXTBSY", Kind.CONFIG);
      case 28 -> new Errno("ENOSPC", Kind.RETRY);
      case 30 -> new Errno("EROFS", Kind.CONFIG);
      case ENOSYS -> new Errno("ENOSYS", Kind.CONFIG);
      case ENODATA -> new Errno("ENODATA", Kind.CONFIG);
      case 71 -> new Errno("EPROTO", Kind.PEER_LOST);
      case 75 -> new Errno("EOVERFLOW", Kind.BUG);
      case 93 -> new Errno("EPROTONOSUPPORT", Kind.CONFIG);
      case 95 -> new Errno("EOPNOTSUPP", Kind.CONFIG);
      case 97 -> new Errno("EAFNOSUPPORT", Kind.CONFIG);
      case 98 -> new Errno("EADDRINUSE", Kind.CONFIG);
      case 99 -> new Errno("EADDRNOTAVAIL", Kind.CONFIG);
      case 100 -> new Errno("ENETDOWN", Kind.PEER_LOST);
      case 101 -> new Errno("ENETUNREACH", Kind.PEER_LOST);
      case 103 -> new Errno("ECONNABORTED", Kind.PEER_LOST);
      case 104 -> new Errno("ECONNRESET", Kind.PEER_LOST);
      case 105 -> new Errno("ENOBUFS", Kind.RETRY);
      case 106 -> new Errno("EISCONN", Kind.BUG);
      case ENOTCONN -> new Errno("ENOTCONN", Kind.PEER_LOST);
      case 110 -> new Errno("ETIMEDOUT", Kind.PEER_LOST);
      case 111 -> new Errno("ECONNREFUSED", Kind.PEER_LOST);
      case 112 -> new Errno("EHOSTDOWN", Kind.PEER_LOST);
      case 113 -> new Errno("EHOSTUNREACH", Kind.PEER_LOST);
      default -> new Errno("errno", Kind.BUG);
    };
  }
}
