/**
 * The adapter of one process of any engine: which one it takes, and the libraries that drive it.
 * Knows no engine. Not on a hot path.
 */
package io.rdmashuffle.core.adapter;
