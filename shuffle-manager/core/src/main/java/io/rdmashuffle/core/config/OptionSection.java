package io.rdmashuffle.core.config;

import java.util.Collection;
import java.util.List;

/**
 * Options of one topic, in the order of the documentation.
 *
 * @param title of the topic
 * @param options at least one
 */
public record OptionSection(String title, List<ConfigOption<?>> options) {
  /** The options of several topics. */
  public static List<ConfigOption<?>> allOf(Collection<OptionSection> sections) {
    return sections.stream().<ConfigOption<?>>flatMap(s -> s.options().stream()).toList();
  }
}
