/**
 * One connection between a reader and an owner, and the threads that drive all of them: the
 * progress thread (posts, polls, timers), the CM thread (connection events) and a small slow pool
 * (whatever waits for the adapter or the disk).
 *
 * <p>A {@code ChannelLayer} is the whole of it for one device. An {@code Outbound} connection in
 * the making becomes a {@code ReaderConnection}; at the owner a {@code Doorkeeper} decides on the
 * request, and an {@code Inbound} one becomes an {@code OwnerConnection}. Both ends authenticate
 * each other before the first LOCATE, and both leave posting, numbering and destruction to an
 * {@code Endpoint} over a {@code Link}.
 *
 * <p>Connections are one-way: the side that dialled reads, the side that accepted owns. State is
 * confined to the progress thread; other threads reach it through {@link
 * io.rdmashuffle.transport.channel.ProgressLoop}. Hot path: {@code ProgressThread}, {@code
 * ReaderChannel#read}.
 */
package io.rdmashuffle.transport.channel;
