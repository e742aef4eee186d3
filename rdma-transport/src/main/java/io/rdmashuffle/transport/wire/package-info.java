/**
 * The control messages between a reader and an owner, and their encoding. Versioned; golden bytes
 * in the tests pin every message. Frames are at most {@link
 * io.rdmashuffle.transport.wire.WireLimits#FRAME_BYTES}; whatever comes from the network is bounded
 * and checked here before anything else sees it. Knows no connection.
 */
package io.rdmashuffle.transport.wire;
