package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.Dialer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Attempts whose end and whose success cross each other. */
final class ConnectAttemptTest implements ConnectAttempt.Listener {
  private final ClientRig rig = new ClientRig();
  private final DialGate gate = new DialGate();
  private ClientContext context;
  private ReaderChannel.Listener dialled;
  private Throwable thrown;
  private boolean tellsFirst;
  private int dials;
  private int heard;
  private TransportException failure;

  /** A dialer that is too late to stop. */
  private Dialer.Attempt dial(Dialer.Target target, ReaderChannel.Listener listener) {
    dialled = listener;
    dials++;
    if (tellsFirst) {
      listener.onDialFailed(new TransportException(Kind.PEER_LOST, "test"));
    }
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
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
    context = ClientContext.of(parts);
    ConnectAttempt attempt = new ConnectAttempt(context, ClientRig.PEER, gate, this);
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

  @ParameterizedTest
  @MethodSource
  void aDialThatThrowsHasFailedAndGivesItsPlaceBack(Throwable unexpected) {
    thrown = unexpected;
    for (int i = 1; i <= DialGate.DIALS + 1; i++) {
      started();
      assertThat(dials).isEqualTo(i);
      assertThat(heard).isEqualTo(i);
      assertThat(failure).hasRootCause(unexpected);
    }
    rig.close();
  }

  static Stream<Throwable> aDialThatThrowsHasFailedAndGivesItsPlaceBack() {
    return Stream.of(
        new IllegalArgumentException("test: empty secret"),
        new OutOfMemoryError("test: unable to create native thread"));
  }

  @Test
  void aDialWhoseFailureCannotBeToldIsOver() {
    thrown =
        new Error() {
          private static final long serialVersionUID = 1L;

          @Override
          public String toString() {
            throw new OutOfMemoryError("the test's shortage");
          }
        };
    assertThatThrownBy(this::started).isInstanceOf(OutOfMemoryError.class);
    context.outstanding().close();
    assertThat(context.outstanding().ended()).isDone();
    rig.close();
  }

  /** It told of its failure first: that counts, once. */
  @Test
  void aDialThatAlsoThrowsFailsOnce() {
    thrown = new IllegalStateException("test");
    tellsFirst = true;
    started();
    assertThat(heard).isEqualTo(1);
    ScriptedReaderChannel channel = new ScriptedReaderChannel(rig.loop, dialled).open();
    assertThat(channel.closeCause()).hasMessageContaining("too late");
    channel.finishClose();
    rig.close();
  }

  @Test
  void dialsThatEndAtOnceDoNotPileUpOnTheStack() {
    DialGate full = new DialGate();
    List<DialGate.Place> places = new ArrayList<>();
    for (int i = 0; i < DialGate.DIALS; i++) {
      full.enter(places::add);
    }
    int[] ended = new int[1];
    for (int i = 0; i < 100_000; i++) {
      full.enter(
          place -> {
            ended[0]++;
            place.close();
          });
    }
    assertThat(ended[0]).isZero();
    places.get(0).close();
    assertThat(ended[0]).isEqualTo(100_000);
  }

  @Override
  public void begin(Session opened) {
    // There is nothing to fetch.
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
  public void isNotReady(Discovery.Invitation.NotYet answer) {
    heard++;
  }

  @Override
  public void failed(FallbackReason reason, TransportException cause) {
    failure = cause;
    heard++;
  }

  @Override
  public void closed(Session session, TransportException cause) {
    heard++;
  }

  @Override
  public void kept(Session session, TransportException cause) {
    heard++;
  }
}
