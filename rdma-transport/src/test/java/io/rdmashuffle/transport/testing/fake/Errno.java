package io.rdmashuffle.transport.testing.fake;

/** The error numbers of Linux that the fake reports: errno(3). */
public enum Errno {
  ENOENT(2),
  EIO(5),
  ENOMEM(12),
  EACCES(13),
  EFAULT(14),
  ENODEV(19),
  EINVAL(22),
  ELOOP(40),
  EADDRINUSE(98),
  ECONNRESET(104),
  ETIMEDOUT(110),
  EHOSTUNREACH(113);

  private final int number;

  Errno(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }
}
