/**
 * Fetches the same blocks of the same files through this transport and through Spark's
 * NettyBlockTransferService, two processes each, and compares CPU, throughput and latency. Figures
 * are ratios of runs that alternate on one machine.
 *
 * <p>{@link io.rdmashuffle.benchmarks.fetch.FetchBenchmark} starts an {@link
 * io.rdmashuffle.benchmarks.fetch.OwnerProcess} and a {@link
 * io.rdmashuffle.benchmarks.fetch.ReaderProcess} per transport and talks to them by lines of text.
 * {@link io.rdmashuffle.benchmarks.fetch.AgainstBenchmark} does so with the processes of two
 * commits. {@link io.rdmashuffle.benchmarks.fetch.FairBenchmark} sets a {@link
 * io.rdmashuffle.benchmarks.fetch.HostileReader} beside the reader.
 */
package io.rdmashuffle.benchmarks.fetch;
