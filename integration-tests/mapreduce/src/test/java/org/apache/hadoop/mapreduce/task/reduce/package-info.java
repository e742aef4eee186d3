/** Plugins for tests, around the real one: they need what Hadoop shows to its own package only. */
package org.apache.hadoop.mapreduce.task.reduce;
