/** Helpers shared by the tests of all modules, through this module's test jar. */
package io.rdmashuffle.transport.testing;
