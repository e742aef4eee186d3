package io.rdmashuffle.core.config;

import io.rdmashuffle.transport.device.DeviceSetting;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One setting: key (relative to the engine's prefix), type, default, range, and what raising or
 * lowering it costs. Immutable. Those of every engine are declared in {@link RdmaOptions}.
 */
public final class ConfigOption<T extends Comparable<T>> {
  private final String key;
  private final ValueType<T> type;
  private final String doc;
  private final T least;
  private final T most;
  private final String range;
  private final T defaultValue;

  private ConfigOption(Builder<T> builder, T defaultValue) {
    this.key = builder.key;
    this.type = builder.type;
    this.doc = builder.doc;
    this.least = builder.least;
    this.most = builder.most;
    this.range = builder.range;
    this.defaultValue = defaultValue;
  }

  public static Builder<ByteSize> bytes(String key) {
    return new Builder<>(
        key,
        new ValueType<ByteSize>(
            "a size such as 64k, 16m or 1g", ByteSize::parse, ByteSize::toString));
  }

  public static Builder<Duration> duration(String key) {
    return new Builder<>(
        key,
        new ValueType<Duration>(
            "a duration such as 20us, 500ms, 5s or 1min", Durations::parse, Durations::format));
  }

  public static Builder<Integer> count(String key) {
    return new Builder<>(
        key,
        new ValueType<Integer>("a whole number", s -> Integer.valueOf(s.trim()), Object::toString));
  }

  /** A whole number of hundredths, with or without the sign. */
  static Builder<Integer> percent(String key) {
    return new Builder<>(
        key,
        new ValueType<Integer>(
            "a percentage such as 25%",
            s -> Integer.valueOf(s.trim().replaceFirst("\\s*%$", "")), p -> p + " %"));
  }

  static Builder<Boolean> flag(String key) {
    Builder<Boolean> builder =
        new Builder<>(
            key,
            new ValueType<Boolean>("true or false", ConfigOption::parseFlag, Object::toString));
    builder.range = "true or false";
    return builder;
  }

  /** An adapter or port of this host. */
  static Builder<DeviceSetting> device(String key) {
    Builder<DeviceSetting> builder =
        new Builder<>(
            key, new ValueType<DeviceSetting>("a device", DeviceSetting::new, DeviceSetting::text));
    builder.range = DeviceSetting.FORM;
    return builder;
  }

  /** An IPv4 address, or a network that it is in. */
  static Builder<BindNetwork> network(String key) {
    Builder<BindNetwork> builder =
        new Builder<>(
            key,
            new ValueType<BindNetwork>(
                "an IPv4 address or network such as 10.1.0.0/16",
                BindNetwork::parse,
                BindNetwork::toString));
    builder.range = "an IPv4 address, or a network such as 10.1.0.0/16";
    return builder;
  }

  /** A constant of an enum, written in lower case. */
  public static <E extends Enum<E>> Builder<E> oneOf(String key, Class<E> values) {
    String all =
        Arrays.stream(values.getEnumConstants())
            .map(ConfigOption::lower)
            .collect(Collectors.joining(", "));
    Builder<E> builder =
        new Builder<>(
            key,
            new ValueType<E>(
                "one of " + all,
                s -> Enum.valueOf(values, s.trim().toUpperCase(Locale.ROOT)),
                ConfigOption::lower));
    builder.range = all;
    return builder;
  }

  /** The same setting in a process for which another default is better. */
  public ConfigOption<T> withDefault(T value) {
    return adapted(doc, value);
  }

  /** The same setting in an engine where its default and what it costs are different. */
  public ConfigOption<T> adapted(String otherDoc, T value) {
    Builder<T> builder = new Builder<>(key, type);
    builder.doc = otherDoc;
    builder.least = least;
    builder.most = most;
    builder.range = range;
    return builder.defaultsTo(value);
  }

  public String key() {
    return key;
  }

  public String doc() {
    return doc;
  }

  public T defaultValue() {
    return defaultValue;
  }

  /** The default as users see it. */
  public String defaultText() {
    return text(defaultValue);
  }

  /** A value as users see it. */
  public String text(T value) {
    return type.format().apply(value);
  }

  /** The allowed values as users see them. */
  public String range() {
    return range;
  }

  /**
   * @param fullKey with the engine's prefix, for the message
   * @throws ConfigException if the text is no value of the type or outside the range
   */
  T parse(String fullKey, String text) {
    T value;
    try {
      value = type.parse().apply(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          fullKey + "=" + text + " is not " + type.noun() + " (allowed: " + range + ")", e);
    }
    if (least != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
      throw new ConfigException(
          fullKey + "=" + text + unitOf(text, value) + " is outside " + range);
    }
    return value;
  }

  /** What a number without a unit was taken for, where it was not the one that was meant. */
  private String unitOf(String text, T value) {
    String number = text.trim();
    boolean bare = number.chars().allMatch(Character::isDigit) && !text(value).equals(number);
    return bare ? ", read as " + text(value) + "," : "";
  }

  private static Boolean parseFlag(String text) {
    return switch (text.trim().toLowerCase(Locale.ROOT)) {
      case "true" -> Boolean.TRUE;
      case "false" -> Boolean.FALSE;
      default -> throw new IllegalArgumentException(text);
    };
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Collects what an option needs; {@link #defaultsTo} ends it. */
  public static final class Builder<T extends Comparable<T>> {
    private final String key;
    private final ValueType<T> type;
    private String doc;
    private T least;
    private T most;
    private String range;

    private Builder(String key, ValueType<T> type) {
      this.key = key;
      this.type = type;
    }

    public Builder<T> doc(String text) {
      doc = text;
      return this;
    }

    /** Both ends belong to the range. */
    public Builder<T> between(T leastValue, T mostValue) {
      least = leastValue;
      most = mostValue;
      range = type.format().apply(least) + " to " + type.format().apply(most);
      return this;
    }

    public ConfigOption<T> defaultsTo(T value) {
      if (doc == null || range == null) {
        throw new IllegalStateException(key + " lacks a doc or a range");
      }
      if (least != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
        throw new IllegalStateException(key + ": default " + value + " is outside " + range);
      }
      return new ConfigOption<>(this, value);
    }
  }
}
