/** Checks that a plugin's classes link against an engine, without loading either. */
package io.rdmashuffle.transport.testing.link;
