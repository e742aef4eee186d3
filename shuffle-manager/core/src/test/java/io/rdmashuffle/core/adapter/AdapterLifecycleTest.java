package io.rdmashuffle.core.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.adapter.AdapterLifecycle.Opener;
import io.rdmashuffle.core.adapter.AdapterRules.Pauses;
import io.rdmashuffle.core.adapter.AdapterState.Absent;
import io.rdmashuffle.core.adapter.AdapterState.Open;
import io.rdmashuffle.core.adapter.AdapterState.Outlook;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.testing.ManualClock;
import io.rdmashuffle.transport.testing.TestTransport;
import java.io.IOError;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class AdapterLifecycleTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(200);

  private final ManualClock clock = new ManualClock();
  private final UnwillingTransport transport = new UnwillingTransport();
  private final AtomicInteger attempts = new AtomicInteger();
  private AdapterLifecycle<TestTransport> life;

  /** Closing it may fail. */
  private static final class UnwillingTransport extends TestTransport {
    private Error onClose; // null: closing works

    @Override
    public void close() {
      super.close();
      if (onClose != null) {
        throw onClose;
      }
    }
  }

  @AfterEach
  void close() {
    life.close();
    until(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(AdapterLifecycleTest::ours));
  }

  private static boolean ours(Thread thread) {
    return thread.getName().equals("rdma-shuffle-adapter");
  }

  private static AdapterRules executor(Duration openTimeout) {
    return AdapterRules.forExecutor("this test", "nothing else", openTimeout, LONG);
  }

  private static AdapterRules node() {
    return AdapterRules.forNode("this test", "nothing else", LONG);
  }

  private AdapterLifecycle<TestTransport> life(AdapterRules rules, Opener<TestTransport> opener) {
    return life(rules, opener, Gate.OPEN);
  }

  private AdapterLifecycle<TestTransport> life(
      AdapterRules rules, Opener<TestTransport> opener, Gate gate) {
    life =
        new AdapterLifecycle<>(
            rules,
            () -> {
              attempts.incrementAndGet();
              return opener.open();
            },
            clock,
            gate);
    return life;
  }

  /** Opens with each of these in turn, an exception or a transport; the last stays. */
  private static Opener<TestTransport> inTurn(Object... outcomes) {
    Deque<Object> left = new ArrayDeque<>(List.of(outcomes));
    return () -> {
      Object outcome = left.size() > 1 ? left.poll() : left.peek();
      if (outcome instanceof TransportException e) {
        throw e;
      } else if (outcome instanceof Error e) {
        throw e;
      } else if (outcome instanceof RuntimeException e) {
        throw e;
      }
      return (TestTransport) outcome;
    };
  }

  private static TransportException noAdapter() {
    return new TransportException(Kind.CONFIG, "no adapter");
  }

  private static OutOfMemoryError noThread() {
    return new OutOfMemoryError("unable to create native thread");
  }

  private static void until(BooleanSupplier condition) {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void pass(Duration time) {
    clock.advanceNs(time.toNanos());
    life.wake();
  }

  /** The thread may look at the clock only after it was moved; so it is moved again. */
  private void passUntilTried(int wanted, Duration step) {
    until(
        () -> {
          if (attempts.get() < wanted) {
            pass(step);
          }
          return attempts.get() == wanted;
        });
  }

  private Outlook outlook() {
    return ((Absent<TestTransport>) life.state()).outlook();
  }

  @Test
  void nothingIsOpenedBeforeItIsAskedFor() {
    life(executor(LONG), () -> transport);
    assertThat(life.isUnused()).isTrue();
    assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
    assertThat(attempts).hasValue(0);
  }

  @Test
  void itIsOpenedOnceAndClosed() throws Exception {
    life(executor(LONG), () -> transport);
    assertThat(life.open()).isEqualTo(new Open<>(transport));
    assertThat(life.open()).isEqualTo(new Open<>(transport));
    assertThat(attempts).hasValue(1);
    life.close();
    assertThat(transport.closed().getCount()).isZero();
    assertThat(outlook()).isEqualTo(Outlook.NEVER);
    assertThat(life.last()).containsSame(transport);
  }

  static Stream<Throwable> whatStays() {
    return Stream.of(
        noAdapter(),
        new IllegalStateException("a bug"),
        new InternalError("a fault in a mapped file"),
        new IOError(new IOException("reading")),
        new UnsatisfiedLinkError("libibverbs.so.1"),
        new StackOverflowError());
  }

  @ParameterizedTest
  @MethodSource("whatStays")
  void aFailureThatStaysIsFinalForAnExecutor(Throwable failure) throws Exception {
    life(executor(LONG), inTurn(failure, transport));
    assertThat(life.open()).isInstanceOf(Absent.class);
    assertThat(outlook()).isEqualTo(Outlook.NEVER);
    pass(Duration.ofHours(1));
    assertThat(life.open()).isEqualTo(life.state());
    assertThat(attempts).hasValue(1);
  }

  @ParameterizedTest
  @MethodSource("whatStays")
  void aNodeTriesAgainWhateverItWas(Throwable failure) throws Exception {
    life(node(), inTurn(failure, transport)).begin();
    until(() -> attempts.get() == 1 && !life.state().equals(absent("the adapter is being opened")));
    assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
    passUntilTried(2, Duration.ofSeconds(10));
    until(() -> life.state().equals(new Open<>(transport)));
  }

  private static Absent<TestTransport> absent(String why) {
    return new Absent<>(why, Outlook.NOT_YET);
  }

  static Stream<Throwable> shortages() {
    return Stream.of(
        noThread(),
        new OutOfMemoryError("Cannot reserve 312 bytes of direct buffer memory"),
        new TransportException(Kind.RETRY, "ibv_alloc_pd: ENOMEM (12)"),
        new TransportException(Kind.BUG, "loading the libraries", noThread()));
  }

  @ParameterizedTest
  @MethodSource("shortages")
  void aShortageIsTriedAgainAfterPausesThatDouble(Throwable shortage) throws Exception {
    life(executor(LONG), inTurn(shortage, shortage, shortage, transport));
    life.open();
    for (int seconds : new int[] {1, 2, 4}) {
      assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
      int before = attempts.get();
      pass(Duration.ofSeconds(seconds).minusMillis(1));
      assertThat(life.open()).as("without waiting").isInstanceOf(Absent.class);
      assertThat(attempts).hasValue(before);
      passUntilTried(before + 1, Duration.ofMillis(100));
    }
    until(() -> life.state().equals(new Open<>(transport)));
  }

  @Test
  void aTaskThatDecidesAtItsStartTriesOnce() throws Exception {
    life(AdapterRules.forTask("this test", "nothing else", LONG, LONG), inTurn(noThread()));
    assertThat(life.open()).isInstanceOf(Absent.class);
    pass(Duration.ofHours(1));
    assertThat(life.open()).isInstanceOf(Absent.class);
    assertThat(attempts).hasValue(1);
  }

  /** Whose text cannot be made, as on a full heap. */
  private static final class Untold extends InternalError {
    private static final long serialVersionUID = 1;

    @Override
    public String toString() {
      throw noThread();
    }
  }

  /** The first two threads cannot be made, or else not be started. */
  private static final class ScarceThreads implements Gate {
    private final Error shortage;
    private final boolean whenStarted;
    private final AtomicInteger wanted = new AtomicInteger();

    ScarceThreads(Error shortage, boolean whenStarted) {
      this.shortage = shortage;
      this.whenStarted = whenStarted;
    }

    @Override
    public Thread newThread(Runnable body, String name) {
      if (wanted.incrementAndGet() > 2) {
        return new Thread(body, name);
      } else if (!whenStarted) {
        throw shortage;
      }
      return new Thread(body, name) {
        @Override
        public void start() {
          throw shortage;
        }
      };
    }

    @Override
    public String toString() {
      return shortage.getClass().getSimpleName() + (whenStarted ? " when started" : " when made");
    }
  }

  static Stream<ScarceThreads> scarceThreads() {
    return Stream.of(noThread(), new InternalError("no stack"), new Untold())
        .flatMap(e -> Stream.of(new ScarceThreads(e, false), new ScarceThreads(e, true)));
  }

  @ParameterizedTest
  @MethodSource("scarceThreads")
  void aThreadThatCannotBeStartedIsTriedAgainByALaterCaller(ScarceThreads gate) throws Exception {
    AtomicInteger made = gate.wanted;
    life(executor(LONG), () -> transport, gate);
    assertThat(life.open()).isInstanceOf(Absent.class);
    assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
    assertThat(life.open()).as("within the pause").isInstanceOf(Absent.class);
    assertThat(made).hasValue(1);
    clock.advanceNs(TimeUnit.SECONDS.toNanos(1));
    assertThat(life.open()).isInstanceOf(Absent.class);
    clock.advanceNs(TimeUnit.SECONDS.toNanos(1));
    assertThat(life.open()).as("the pause has doubled").isInstanceOf(Absent.class);
    assertThat(made).hasValue(2);
    clock.advanceNs(TimeUnit.SECONDS.toNanos(1));
    assertThat(life.open()).isEqualTo(new Open<>(transport));
  }

  @Test
  void openingThatHangsIsWaitedForOnceAndUsedWhenItSucceeds() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    life(executor(SHORT), () -> uninterrupted(hangs));
    long startNs = System.nanoTime();
    assertThat(life.open()).isEqualTo(absent("the adapter is not open after 0 s"));
    assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(SHORT.toNanos() / 2);
    clock.advanceNs(SHORT.toNanos());
    long secondNs = System.nanoTime();
    for (int caller = 0; caller < 100; caller++) {
      assertThat(life.open()).isInstanceOf(Absent.class);
    }
    assertThat(System.nanoTime() - secondNs)
        .as("a hundred callers")
        .isLessThan(100 * SHORT.toNanos() / 2);
    hangs.countDown();
    until(() -> life.state().equals(new Open<>(transport)));
  }

  private TestTransport uninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return transport;
  }

  @Test
  void whatOpensAfterItWasAbandonedIsClosed() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    life(executor(SHORT), () -> uninterrupted(hangs)).begin();
    until(() -> attempts.get() == 1);
    life.abandon();
    hangs.countDown();
    assertThat(transport.closed().await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void anInterruptedCallerDoesNotEndTheOpening() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    life(executor(LONG), () -> uninterrupted(hangs));
    Thread.currentThread().interrupt();
    assertThatThrownBy(life::open).isInstanceOf(InterruptedException.class);
    hangs.countDown();
    assertThat(life.open()).isEqualTo(new Open<>(transport));
  }

  @Test
  void anExecutorThatLostItsAdapterStaysWithout() throws Exception {
    life(executor(LONG), () -> transport);
    life.open();
    transport.lost().complete("test0 is lost");
    assertThat(transport.closed().await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    pass(Duration.ofHours(1));
    assertThat(life.open()).isEqualTo(new Absent<>("test0 is lost", Outlook.NEVER));
    assertThat(attempts).hasValue(1);
  }

  @Test
  void aNodeThatLostItsAdapterTriesAgainAfter1And2And4To10Minutes() {
    TestTransport next = new TestTransport();
    life(node(), inTurn(transport, noAdapter(), noAdapter(), noAdapter(), noAdapter(), next));
    life.begin();
    until(() -> life.state() instanceof Open);
    transport.lost().complete("test0 is lost");
    until(() -> transport.closed().getCount() == 0);
    for (int minutes : new int[] {1, 2, 4, 8, 10}) {
      int before = attempts.get();
      assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
      pass(Duration.ofMinutes(minutes).minusSeconds(1));
      life.begin();
      assertThat(attempts).hasValue(before);
      passUntilTried(before + 1, Duration.ofSeconds(1));
    }
    until(() -> life.state().equals(new Open<>(next)));
  }

  @Test
  void afterALongTimeWithAnAdapterTheNextPauseIsTheShortestAgain() {
    life(node(), () -> transport);
    Pauses pauses = node().absences();
    Retries retries = new Retries(0);
    assertThat(retries.failed(pauses, 0)).isEqualTo(Duration.ofMinutes(1).toNanos());
    assertThat(retries.failed(pauses, 0)).isEqualTo(Duration.ofMinutes(2).toNanos());
    retries.reset();
    assertThat(retries.failed(pauses, 0)).isEqualTo(Duration.ofMinutes(1).toNanos());
    assertThat(retries.failed(node().shortages(), 0)).isEqualTo(Duration.ofSeconds(1).toNanos());
  }

  @Test
  void closingThatFailsReachesNobody() throws Exception {
    transport.onClose = new InternalError("ibv_dealloc_pd: EIO (5)");
    life(executor(LONG), () -> transport);
    life.open();
    assertThatCode(life::close).doesNotThrowAnyException();
    assertThat(transport.closed().getCount()).isZero();
  }

  @Test
  void aLostAdapterThatCannotBeClosedReachesNobodyAndIsFollowedByAnother() {
    transport.onClose = new InternalError("ibv_dealloc_pd: EIO (5)");
    TestTransport next = new TestTransport();
    life(node(), inTurn(transport, next)).begin();
    until(() -> life.state() instanceof Open);
    transport.lost().complete("test0 is lost");
    until(() -> transport.closed().getCount() == 0);
    until(
        () -> {
          pass(Duration.ofSeconds(10));
          return life.state().equals(new Open<>(next));
        });
  }

  @Test
  void whatTheUserThrowsClosesTheTransport() throws Exception {
    life =
        new AdapterLifecycle<>(
            node(),
            new Opener<>() {
              @Override
              public TestTransport open() {
                return transport;
              }

              @Override
              public void onOpen(TestTransport opened) {
                throw noThread();
              }
            });
    life.begin();
    assertThat(transport.closed().await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    until(() -> life.state() instanceof Absent);
    assertThat(outlook()).isEqualTo(Outlook.NOT_YET);
  }
}
