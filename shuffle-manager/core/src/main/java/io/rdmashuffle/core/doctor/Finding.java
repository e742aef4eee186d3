package io.rdmashuffle.core.doctor;

/**
 * What one check found.
 *
 * @param check its name, a word or two
 * @param status how bad it is
 * @param text what was found, one line
 * @param remedy what to do about it, empty if nothing
 */
record Finding(String check, Status status, String text, String remedy) {
  enum Status {
    OK,
    WARNING,
    FAILED;

    String label() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  static Finding ok(String check, String text) {
    return new Finding(check, Status.OK, text, "");
  }

  static Finding warning(String check, String text, String remedy) {
    return new Finding(check, Status.WARNING, text, remedy);
  }

  static Finding failed(String check, String text, String remedy) {
    return new Finding(check, Status.FAILED, text, remedy);
  }
}
