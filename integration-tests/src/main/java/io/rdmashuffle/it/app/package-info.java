/**
 * Applications that the integration tests submit to real clusters. Each checks nothing itself: it
 * writes digests of its results to a file, for the test to compare.
 */
package io.rdmashuffle.it.app;
