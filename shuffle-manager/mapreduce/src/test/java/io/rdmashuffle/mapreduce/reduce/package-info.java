/** Tests of the reducer's side, and a NodeManager in memory for them. */
package io.rdmashuffle.mapreduce.reduce;
