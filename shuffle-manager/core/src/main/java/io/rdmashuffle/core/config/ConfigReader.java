package io.rdmashuffle.core.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads options out of an engine's configuration. Immutable, as far as the configuration behind it
 * is.
 */
public final class ConfigReader {
  private static final int MOST_SLIPS = 1; // and one more in each four characters
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

  /**
   * The same configuration in a process that has defaults of its own.
   *
   * @param adapted options whose default counts instead of that of the option with the same key
   */
  public ConfigReader withDefaultsOf(Collection<ConfigOption<?>> adapted) {
    Map<String, String> defaults = new HashMap<>();
    adapted.forEach(option -> defaults.put(fullKey(option), option.defaultText()));
    return new ConfigReader(
        prefix,
        key -> {
          String set = lookup.apply(key);
          return set != null ? set : defaults.get(key);
        });
  }

  /** The key as the user writes it. */
  public String fullKey(ConfigOption<?> option) {
    return prefix + option.key();
  }

  /**
   * Refuses keys under the prefix that none of {@link RdmaOptions} has.
   *
   * @param presentKeys full keys that the configuration holds; those of others are ignored
   * @throws ConfigException naming the key, and a known one that is like it
   */
  public void refuseUnknown(Collection<String> presentKeys) {
    refuseUnknown(presentKeys, RdmaOptions.all());
  }

  /**
   * Refuses keys under the prefix that no option has: a typing error would silently change nothing.
   *
   * @param presentKeys full keys that the configuration holds; those of others are ignored
   * @param known the options there are
   * @throws ConfigException naming the key, and a known one that is like it
   */
  public void refuseUnknown(Collection<String> presentKeys, Collection<ConfigOption<?>> known) {
    presentKeys.stream()
        .filter(k -> k.startsWith(prefix))
        .sorted()
        .forEach(k -> refuseUnknown(k, known));
  }

  private void refuseUnknown(String fullKey, Collection<ConfigOption<?>> known) {
    String key = fullKey.substring(prefix.length());
    if (known.stream().anyMatch(o -> o.key().equals(key))) {
      return;
    }
    String hint =
        known.stream()
            .map(ConfigOption::key)
            .min(Comparator.comparingInt(k -> EditDistance.between(k, key)))
            .filter(nearest -> EditDistance.between(nearest, key) <= MOST_SLIPS + key.length() / 4)
            .map(nearest -> "; did you mean " + prefix + nearest + "?")
            .orElse("");
    throw new ConfigException(fullKey + " is not a setting of this version" + hint);
  }
}
