package io.rdmashuffle.transport.client;

/**
 * What is known of a block besides its bytes.
 *
 * @param name for messages
 * @param attribute as the owner's catalog gave it
 * @param source how the bytes come
 */
record BlockFacts(BlockName name, long attribute, Block.Source source) {}
