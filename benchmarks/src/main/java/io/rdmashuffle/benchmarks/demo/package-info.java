/**
 * The demo behind {@code dev/demo}: the same jobs on a real multi-process Spark, first with the
 * stock shuffle, then with this one, compared in a table and in {@code report.json}.
 *
 * <p>{@link io.rdmashuffle.benchmarks.demo.Demo} runs in a JVM of its own and starts applications
 * by SparkSubmit; {@link io.rdmashuffle.benchmarks.demo.DemoApplication} is what they run. They
 * talk through a JSON file.
 */
package io.rdmashuffle.benchmarks.demo;
