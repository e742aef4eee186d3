/**
 * Every setting of the shuffle, once: its key, type, default, range and trade-off. Engines supply a
 * prefix and their own configuration; a bad value or an unknown key stops start-up. The page {@code
 * docs/configuration.md} is generated from here. Not on any hot path.
 */
package io.rdmashuffle.core.config;
