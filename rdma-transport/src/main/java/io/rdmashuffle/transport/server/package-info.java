/**
 * The owner's side: answers LOCATEs out of the engine's files. A catalog says where a block lies in
 * which file; the window cache registers parts of files, staging copies small or unregistrable
 * blocks into registered memory, and the lease table holds both until the reader is done. Knows
 * neither Spark nor Hadoop, and nothing of the reader's side.
 */
package io.rdmashuffle.transport.server;
