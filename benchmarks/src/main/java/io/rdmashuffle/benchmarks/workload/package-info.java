/**
 * Jobs whose results can be checked and compared: TeraSort and TPC-DS queries, with the data they
 * work on made here.
 */
package io.rdmashuffle.benchmarks.workload;
