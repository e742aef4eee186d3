package io.rdmashuffle.transport.channel.testing;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.Dialer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import java.util.ArrayList;
import java.util.List;

/** A dialer that records who is dialled; the test connects or fails each attempt. */
public final class ScriptedDialer implements Dialer {
  private final ManualLoop loop;
  private final List<Dialled> pending = new ArrayList<>();
  private int dials;

  public ScriptedDialer(ManualLoop loop) {
    this.loop = loop;
  }

  /** Attempts without an outcome, oldest first. */
  public List<Dialled> pending() {
    return List.copyOf(pending);
  }

  /** All attempts ever made. */
  public int dials() {
    return dials;
  }

  @Override
  public Attempt dial(Target target, ReaderChannel.Listener listener) {
    dials++;
    Dialled dialled = new Dialled(target, listener);
    pending.add(dialled);
    return dialled;
  }

  /** One attempt. */
  public final class Dialled implements Attempt {
    private final Target target;
    private final ReaderChannel.Listener listener;

    private Dialled(Target target, ReaderChannel.Listener listener) {
      this.target = target;
      this.listener = listener;
    }

    public Target target() {
      return target;
    }

    /** The channel opens; the listener hears of it. */
    public ScriptedReaderChannel connect() {
      end();
      return new ScriptedReaderChannel(loop, listener).open();
    }

    /** The channel opens with the given credits; the listener hears of it. */
    public ScriptedReaderChannel connect(int requestCredits, int readCredits) {
      end();
      return new ScriptedReaderChannel(loop, listener)
          .withRequestCredits(requestCredits)
          .withReadCredits(readCredits)
          .open();
    }

    public void fail(TransportException cause) {
      end();
      listener.onDialFailed(cause);
    }

    /** The listener hears of it in a later task, as with the real dialer. */
    @Override
    public void abandon() {
      if (pending.remove(this)) {
        loop.execute(
            () -> listener.onDialFailed(new TransportException(Kind.RETRY, "dial abandoned")));
      }
    }

    private void end() {
      if (!pending.remove(this)) {
        throw new IllegalStateException("attempt has ended before");
      }
    }
  }
}
