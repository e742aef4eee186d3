/**
 * Which of Spark's map outputs lies in which file, and which partition where in it: the answer to
 * LOCATE. Lookups are on the owner's hot path; everything else happens at commit, at removal, or on
 * the slow pool.
 */
package io.rdmashuffle.spark.catalog;
