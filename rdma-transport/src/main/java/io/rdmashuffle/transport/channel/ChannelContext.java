package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.wire.WireCodec;
import io.rdmashuffle.transport.wire.WireLimits;
import java.security.SecureRandom;

/**
 * What all connections of a layer share. Used on the progress thread.
 *
 * @param loop that thread
 * @param slowPool where calls run that wait
 * @param completions finds the connection of a completion
 * @param codec shared, as messages are encoded one at a time
 * @param hmac shared, as above
 * @param random for nonces
 * @param counters what is counted
 * @param logLimit for lines that strangers cause, by address
 * @param settings how connections behave
 * @param live all connections that are not yet gone
 * @param cm the thread that hears of what happens to ids
 */
record ChannelContext(
    ProgressLoop loop,
    Workers slowPool,
    CompletionTable completions,
    WireCodec codec,
    Hmac hmac,
    SecureRandom random,
    Counters counters,
    LogLimit logLimit,
    ChannelSettings settings,
    LiveConnections live,
    CmThread cm) {

  /** Fresh random bytes. */
  byte[] nonce() {
    byte[] nonce = new byte[WireLimits.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }
}
