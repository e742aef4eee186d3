package io.rdmashuffle.core.config;

/** A setting that cannot be obeyed. The message names key, value and range, for the user. */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ConfigException(String message) {
    super(message);
  }

  ConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
