/**
 * What every implementation of the verbs interface must do, as one suite: {@link
 * io.rdmashuffle.transport.verbs.VerbsContract}. A bug in one implementation adds a test for all.
 */
package io.rdmashuffle.transport.verbs;
