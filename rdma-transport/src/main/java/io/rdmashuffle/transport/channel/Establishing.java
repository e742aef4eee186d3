package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.CmChannel;
import java.util.function.Predicate;

/**
 * What connections in the making need, in either direction.
 *
 * @param cm the thread they are driven on
 * @param channel of that thread
 * @param maker of queue pairs
 * @param limits how many there may be
 * @param context what finished connections share
 */
record Establishing(
    CmThread cm,
    CmChannel channel,
    Link.Maker maker,
    ConnectionLimits limits,
    ChannelContext context) {

  ConnectionShape readerShape() {
    return ConnectionShape.ofReader(context.settings(), maker.parts().device().attributes());
  }

  ConnectionShape ownerShape() {
    return ConnectionShape.ofOwner(context.settings(), maker.parts().device().attributes());
  }

  long connectTimeoutNs() {
    return context.settings().connectTimeout().toNanos();
  }

  /** Makes room at the cap, or in somebody's part, for later attempts. Any thread. */
  void giveUpAnIdleOne(Predicate<LiveConnections.Connection> candidates) {
    long minimumIdleNs = 2 * context.settings().keepAlive().toNanos();
    context
        .loop()
        .execute(
            () ->
                context.live().closeOldestIdle(candidates, context.loop().nowNs(), minimumIdleNs));
  }
}
