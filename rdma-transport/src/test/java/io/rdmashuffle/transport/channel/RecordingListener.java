package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.wire.Reply;
import java.util.ArrayList;
import java.util.List;

/** Remembers what a dialler heard, in one order. */
final class RecordingListener implements ReaderChannel.Listener {
  ReaderChannel channel;
  final List<String> heard = new ArrayList<>();
  final List<TransportException> causes = new ArrayList<>();
  final List<Reply> replies = new ArrayList<>();

  @Override
  public void onOpen(ReaderChannel opened) {
    channel = opened;
    heard.add("open");
  }

  @Override
  public void onDialFailed(TransportException cause) {
    causes.add(cause);
    heard.add("dial failed");
  }

  @Override
  public void onClosed(TransportException cause) {
    causes.add(cause);
    heard.add("closed");
  }

  TransportException onlyCause() {
    if (causes.size() != 1) {
      throw new AssertionError(causes.toString());
    }
    return causes.get(0);
  }

  ReaderChannel.ReplyHandler replyHandler() {
    return new ReaderChannel.ReplyHandler() {
      @Override
      public void onReply(Reply reply) {
        replies.add(reply);
        heard.add("reply");
      }

      @Override
      public void onFailed(TransportException cause) {
        heard.add("reply failed");
      }
    };
  }

  ReaderChannel.ReadHandler readHandler() {
    return new ReaderChannel.ReadHandler() {
      @Override
      public void onRead() {
        heard.add("read");
      }

      @Override
      public void onFailed(TransportException cause) {
        heard.add("read failed");
      }
    };
  }
}
