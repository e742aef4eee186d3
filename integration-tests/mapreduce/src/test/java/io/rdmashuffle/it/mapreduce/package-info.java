/** Jobs on a Hadoop cluster, compared with an independent count and with Hadoop's own shuffle. */
package io.rdmashuffle.it.mapreduce;
