package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.channel.ReaderChannel.ReplyHandler;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;

/**
 * Keeps a reader's connection known to the owner while it is silent, and ends it when it has not
 * been used for long. Progress thread only.
 */
final class KeepAlive {
  static final Request MESSAGE = new Request.Release(new long[0]);

  /** The reply says nothing; that none came is the deadline's to notice. */
  static final ReplyHandler NO_INTEREST =
      new ReplyHandler() {
        @Override
        public void onReply(Reply reply) {
          // It came.
        }

        @Override
        public void onFailed(TransportException cause) {
          // The connection's listener hears of it.
        }
      };

  private final ProgressLoop loop;
  private final long idleTimeoutNs;
  private final ReaderConnection connection;
  private long intervalNs;
  private long lastRequestNs;
  private long lastUsedNs;
  private Timer timer;

  KeepAlive(ChannelContext context, ReaderConnection connection) {
    loop = context.loop();
    idleTimeoutNs = context.settings().idleTimeout().toNanos();
    this.connection = connection;
    lastRequestNs = loop.nowNs();
    lastUsedNs = lastRequestNs;
  }

  /** The owner has said how often it wants to hear something. */
  void start(long everyNs) {
    intervalNs = everyNs;
    timer = loop.schedule(intervalNs, this::tick);
  }

  void stop() {
    if (timer != null) {
      timer.cancel();
    }
  }

  long intervalNs() {
    return intervalNs;
  }

  long lastRequestNs() {
    return lastRequestNs;
  }

  long lastUsedNs() {
    return lastUsedNs;
  }

  /** A request of any kind leaves. */
  void sent(long nowNs) {
    lastRequestNs = nowNs;
  }

  /** Somebody uses the connection. */
  void used() {
    lastUsedNs = loop.nowNs();
  }

  private void tick() {
    long nowNs = loop.nowNs();
    if (connection.isIdle() && nowNs - lastUsedNs >= idleTimeoutNs) {
      connection.close(
          new TransportException(
              Kind.RETRY,
              "closed after "
                  + idleTimeoutNs / 1_000_000
                  + " ms without use: "
                  + connection.peerName()));
      return;
    }
    long silentNs = nowNs - lastRequestNs;
    if (silentNs >= intervalNs) {
      connection.sendKeepAlive();
      silentNs = 0;
    }
    timer = loop.schedule(intervalNs - silentNs, this::tick);
  }
}
