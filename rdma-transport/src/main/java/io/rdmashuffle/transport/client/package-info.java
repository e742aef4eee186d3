/**
 * The reader's side: gets blocks of other processes by LOCATE and READ. Peers are discovered,
 * dialled and dropped here; blocks land in registered memory and are handed over from delivery
 * threads. Whatever does not come by RDMA is given back with a reason, never as an error. Knows
 * neither Spark nor Hadoop, and nothing of the owner's side.
 */
package io.rdmashuffle.transport.client;
