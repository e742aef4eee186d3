package io.rdmashuffle.core.config;

import java.util.function.Function;

/**
 * How values of a type are read and shown.
 *
 * @param noun what a value is called in messages, with examples
 * @param parse throws {@link IllegalArgumentException} if the text is no such value
 * @param format as shown to users
 */
record ValueType<T>(String noun, Function<String, T> parse, Function<T, String> format) {}
