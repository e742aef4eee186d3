package io.rdmashuffle.transport.verbs;

/**
 * Room of a queue pair: ibv_create_qp(3).
 *
 * @param sendEntries send queue: sends and READs not yet completed, unsignalled ones included until
 *     a later signalled one completed
 * @param receiveEntries receives posted and not yet completed
 */
public record QueuePairCapacity(int sendEntries, int receiveEntries) {}
