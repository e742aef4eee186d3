/**
 * The NodeManager's side: a shuffle handler that serves HTTP as before, and the same map outputs by
 * RDMA beside it. Whatever fails here leaves plain HTTP and never stops the NodeManager.
 */
package io.rdmashuffle.mapreduce.nm;
