/** Tests of the plugin against Hadoop's own scheduler, merger and fetcher. */
package org.apache.hadoop.mapreduce.task.reduce;
