package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.wire.WireCodec;
import io.rdmashuffle.transport.wire.WireLimits;
import java.security.SecureRandom;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

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
 * @param forgetId tells the CM thread that an id is closed
 */
record ChannelContext(
    ProgressLoop loop,
    Executor slowPool,
    CompletionTable completions,
    WireCodec codec,
    Hmac hmac,
    SecureRandom random,
    Counters counters,
    LogLimit logLimit,
    ChannelSettings settings,
    LiveConnections live,
    Consumer<CmId> forgetId) {

  /** Fresh random bytes. */
  byte[] nonce() {
    byte[] nonce = new byte[WireLimits.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }
}
