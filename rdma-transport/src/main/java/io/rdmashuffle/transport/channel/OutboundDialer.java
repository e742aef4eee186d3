package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;

/** Starts outbound connections, as far as there is room. Progress thread only. */
final class OutboundDialer implements Dialer {
  private static final Attempt ENDED = () -> {};

  private final Establishing establishing;

  OutboundDialer(Establishing establishing) {
    this.establishing = establishing;
  }

  @Override
  public Attempt dial(Target target, ReaderChannel.Listener listener) {
    ConnectionLimits.Permit permit =
        establishing.limits().tryAcquire(establishing.readerShape().entries());
    if (permit == null) {
      refuse(target, listener);
      return ENDED;
    }
    try {
      Outbound outbound = new Outbound(establishing, target, listener, permit);
      outbound.begin();
      return outbound;
    } catch (RuntimeException | Error e) { // an empty secret, for instance
      permit.close();
      throw e;
    }
  }

  private void refuse(Target target, ReaderChannel.Listener listener) {
    ChannelContext context = establishing.context();
    context.counters().increment(Counter.CONNECTIONS_REFUSED);
    TransportException cause;
    if (establishing.limits().isClosed()) {
      cause =
          new TransportException(
              Kind.RETRY, "no connections any more: " + establishing.limits().closedReason());
    } else {
      establishing.giveUpAnIdleOne(c -> true);
      cause =
          new ConnectionCapException(
              "no room to connect to "
                  + target.peerName()
                  + ": "
                  + establishing.limits().describe());
    }
    context.loop().execute(() -> listener.onDialFailed(cause));
  }
}
