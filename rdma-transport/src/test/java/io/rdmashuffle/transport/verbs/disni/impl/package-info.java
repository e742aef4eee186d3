/** The parts of the implementation that need no native code. */
package io.rdmashuffle.transport.verbs.disni.impl;
