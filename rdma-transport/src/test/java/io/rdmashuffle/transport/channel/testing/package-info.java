/**
 * Doubles of the channel package's interfaces, for tests of those who use them: a loop that runs
 * when told to, and channels that record what they are asked and answer what the test says.
 */
package io.rdmashuffle.transport.channel.testing;
