/**
 * A program that tells whether RDMA will work on a host before a job depends on it, or why it does
 * not: what {@code java -jar} of the plugin starts. It asks the same classes that a job asks.
 */
package io.rdmashuffle.core.doctor;
