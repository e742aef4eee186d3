package io.rdmashuffle.core.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.function.Function;

/**
 * Reads options out of an engine's configuration. Immutable, as far as the configuration behind it
 * is.
 */
public final class ConfigReader {
  private final String prefix;
  private final Function<String, String> lookup;

  /**
   * @param prefix what the engine's keys begin with, such as {@code spark.shuffle.rdma.}
   * @param lookup value of a full key, null if not set
   */
  public ConfigReader(String prefix, Function<String, String> lookup) {
    this.prefix = prefix;
    this.lookup = lookup;
  }

  /**
   * The value set, or the default.
   *
   * @throws ConfigException naming key, value and range
   */
  public <T extends Comparable<T>> T read(ConfigOption<T> option) {
    String fullKey = fullKey(option);
    String text = lookup.apply(fullKey);
    return text == null ? option.defaultValue() : option.parse(fullKey, text);
  }

  /** The key as the user writes it. */
  public String fullKey(ConfigOption<?> option) {
    return prefix + option.key();
  }

  /**
   * Refuses keys under the prefix that no option has: a typing error would silently change nothing.
   *
   * @param presentKeys full keys that the configuration holds; those of others are ignored
   * @throws ConfigException naming the key and the nearest known one
   */
  public void refuseUnknown(Collection<String> presentKeys) {
    presentKeys.stream().filter(k -> k.startsWith(prefix)).sorted().forEach(this::refuseUnknown);
  }

  private void refuseUnknown(String fullKey) {
    String key = fullKey.substring(prefix.length());
    if (RdmaOptions.all().stream().anyMatch(o -> o.key().equals(key))) {
      return;
    }
    String nearest =
        RdmaOptions.all().stream()
            .map(ConfigOption::key)
            .min(Comparator.comparingInt(k -> EditDistance.between(k, key)))
            .orElseThrow();
    throw new ConfigException(
        fullKey + " is not a setting of this version; did you mean " + prefix + nearest + "?");
  }
}
