/** Real Spark clusters of several processes on this host, on the software adapter or on none. */
package io.rdmashuffle.it.spark;
