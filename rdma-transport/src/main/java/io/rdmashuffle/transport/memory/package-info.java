/**
 * Memory that adapters can reach: the one budget, slabs divided into chunks, windows over files.
 *
 * <p>Built on {@code verbs}; used by {@code channel} (messages), {@code server} (windows, staging)
 * and {@code client} (where READs land). Everything that registers, registers here, so that one
 * number bounds it. Hot path: {@link io.rdmashuffle.transport.memory.ChunkPool#tryTake} and {@link
 * io.rdmashuffle.transport.memory.ChunkPool.Chunk#close}.
 */
package io.rdmashuffle.transport.memory;
