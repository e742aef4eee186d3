/**
 * The reader's side: gets blocks of other processes by LOCATE and READ. Peers are discovered,
 * dialled and dropped here; blocks land in registered memory and are handed over from delivery
 * threads. Whatever does not come by RDMA is given back with a reason, never as an error. Knows
 * neither Spark nor Hadoop, and nothing of the owner's side.
 *
 * <p>A fetch enters through {@code RdmaBlockClient}, waits at its {@code PeerLink} for a
 * connection, is worked off by that connection's {@code Session} (places by {@code KeyQueue} and
 * {@code LocateFrame}, bytes by {@code ReadPump}), and is reported through {@code Outcomes}, which
 * sees to it that each index is reported once. {@code LandingMemory} decides whether a block stays
 * where it landed or is copied out. All of that state is confined to the progress thread; blocks
 * are for any thread. Hot path: {@code ReadPump}, {@code ReadBatch}.
 */
package io.rdmashuffle.transport.client;
