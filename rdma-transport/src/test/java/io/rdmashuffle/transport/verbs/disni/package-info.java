/** The DiSNI implementation: its loading, its native side, and the contract on its devices. */
package io.rdmashuffle.transport.verbs.disni;
