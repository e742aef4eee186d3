/**
 * The only way from one thread to another: work that cannot be lost on its way, the queues it waits
 * in, and the threads that do it. It knows nothing of what the work is. Hot path: {@link
 * io.rdmashuffle.transport.handover.WorkQueue}, without locks and without allocation.
 */
package io.rdmashuffle.transport.handover;
