/** A block server and a block client with their real threads, in one process, for the contract. */
package io.rdmashuffle.transport.protocol;
