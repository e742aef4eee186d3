/**
 * One connection between a reader and an owner, and the threads that drive all of them: the
 * progress thread (posts, polls, timers), the CM thread (connection events) and a small slow pool
 * (whatever waits for the adapter or the disk).
 *
 * <p>Connections are one-way: the side that dialled reads, the side that accepted owns. State is
 * confined to the progress thread; other threads reach it through {@link
 * io.rdmashuffle.transport.channel.ProgressLoop}. Hot path: {@code ProgressThread}, {@code
 * ReaderChannel#read}.
 */
package io.rdmashuffle.transport.channel;
