/**
 * Real Spark clusters on this host, put together from the jars of the build: no Spark distribution
 * is needed. Used by the demo, the benchmarks and the integration tests.
 */
package io.rdmashuffle.benchmarks.cluster;
