package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.handover.Workers;

/**
 * The threads that work for a client. Lent; they must outlive it and must not run tasks on the
 * caller's thread.
 *
 * @param copy copies blocks out of registered memory; nothing that waits for consumers may run
 *     there
 * @param delivery calls listeners
 */
public record ClientThreads(Workers copy, Workers delivery) {}
