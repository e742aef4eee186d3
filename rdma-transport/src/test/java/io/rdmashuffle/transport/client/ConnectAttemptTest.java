package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.Dialer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Attempts whose end and whose success cross each other. */
final class ConnectAttemptTest implements ConnectAttempt.Listener {
  private final ClientRig rig = new ClientRig();
  private ReaderChannel.Listener dialled;
  private int heard;

  /** A dialer that is too late to stop. */
  private Dialer.Attempt dial(Dialer.Target target, ReaderChannel.Listener listener) {
    dialled = listener;
    return () -> {};
  }

  private ConnectAttempt started() {
    ClientParts parts =
        new ClientParts(
            rig.loop,
            this::dial,
            rig.discovery,
            rig.pool,
            rig.overflow,
            rig.threads.forClient(),
            rig.counters,
            new Random(1),
            rig.settings,
            ChannelSettings.defaults());
    ConnectAttempt attempt =
        new ConnectAttempt(ClientContext.of(parts), ClientRig.PEER, new DialGate(), this);
    attempt.start();
    rig.advance(Duration.ofMillis(5));
    assertThat(dialled).isNotNull();
    return attempt;
  }

  @Test
  void aConnectionThatStandsAfterItWasGivenUpIsClosed() {
    started().abandon();

    ScriptedReaderChannel channel = new ScriptedReaderChannel(rig.loop, dialled).open();

    assertThat(channel.closeCause()).hasMessageContaining("too late");
    channel.finishClose();
    assertThat(heard).isZero();
    rig.close();
  }

  @Override
  public Session opened(ReaderChannel channel) {
    throw new AssertionError("opened after it was given up");
  }

  @Override
  public void hasNoRdma(Discovery.Invitation.None answer) {
    heard++;
  }

  @Override
  public void failed(FallbackReason reason, TransportException cause) {
    heard++;
  }

  @Override
  public void closed(Session session, TransportException cause) {
    heard++;
  }
}
