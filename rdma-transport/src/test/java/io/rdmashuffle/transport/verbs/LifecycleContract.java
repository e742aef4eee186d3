package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.RigEnd.Port;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Opening, closing twice, and use after close: an exception, never a crash. */
public interface LifecycleContract extends RigTest {
  @Test
  default void deviceTellsItsLimits() throws Exception {
    Device device = rig().client().device();
    DeviceAttributes limits = device.attributes();

    assertThat(device.name()).isNotBlank();
    assertThat(device.address()).isEqualTo(rig().address());
    assertThat(limits.maxQp()).isPositive();
    assertThat(limits.maxQpWr()).isPositive();
    assertThat(limits.maxCqe()).isPositive();
    assertThat(limits.maxMr()).isPositive();
    assertThat(limits.maxMrBytes()).isPositive();
    assertThat(limits.maxSge()).isPositive();
    assertThat(limits.maxReadsAsInitiator()).isPositive();
    assertThat(limits.maxReadsAsTarget()).isPositive();
  }

  @Test
  default void addressOfNoDeviceIsRefused() throws Exception {
    for (String nobodys : new String[] {"192.0.2.1", "0.0.0.0", "::1"}) {
      assertThatThrownBy(() -> rig().provider().open(InetAddress.getByName(nobodys)).close())
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(InetAddress.getByName(nobodys).getHostAddress())
          .extracting(e -> ((VerbsException) e).kind())
          .isEqualTo(Kind.CONFIG);
    }
  }

  @Test
  default void quietDeviceHasNoAsyncEvent() throws Exception {
    assertThat(rig().client().device().pollAsyncEvent()).isNull();
  }

  @Test
  default void everythingClosesTwice() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigEnd end = rig().server();
    AutoCloseable[] inOrder = {
      pair.client().queuePair(),
      pair.client().id(),
      pair.server().queuePair(),
      pair.server().id(),
      rig().listener(),
      source.region(),
      source.mapping(),
      end.cm(),
      end.completions(),
      end.domain(),
      end.device()
    };
    for (AutoCloseable part : inOrder) {
      part.close();
      part.close();
    }
  }

  @Test
  default void idClosesItsQueuePair() throws Exception {
    RigPair pair = rig().connect();

    pair.client().id().close();

    assertStale(() -> pair.client().queuePair().toError());
    pair.client().queuePair().close();
  }

  @Test
  default void closedQueuePairRefusesPosts() throws Exception {
    RigPair pair = rig().connect();
    RigMemory sink = rig().sink(4096);
    QueuePair closed = pair.client().queuePair();
    MemoryRegion region = sink.region();
    closed.close();

    assertStale(() -> closed.postReceive(1, region.address(), 64, region.lkey()));
    assertStale(() -> closed.postSend(1, region.address(), 64, region.lkey()));
    assertStale(() -> pair.postRead(1, sink, sink, 64));
    assertStale(() -> closed.allowRemoteReads(true));
    assertStale(closed::toError);
  }

  @Test
  default void closedIdRefusesEverything() throws Exception {
    Port port = rig().readyToConnect(rig().serverAddress());
    InetSocketAddress peer = rig().serverAddress();
    CmId closed = port.id();
    closed.close();

    assertStale(() -> closed.resolveAddress(peer, RigEnd.PATIENCE_NS));
    assertStale(() -> closed.resolveRoute(RigEnd.PATIENCE_NS));
    assertStale(() -> rig().client().queuePair(closed));
    assertStale(() -> closed.connect(new byte[0]));
    assertStale(() -> closed.accept(new byte[0]));
    assertStale(() -> closed.reject(new byte[0]));
    assertStale(closed::disconnect);
    assertStale(closed::localAddress);
    assertStale(closed::peerAddress);
  }

  @Test
  default void closedQueuesAndChannelsRefuseEverything() throws Exception {
    CompletionQueue completions = rig().client().device().createCompletionQueue(16);
    CmChannel cm = rig().client().device().openCmChannel();
    completions.close();
    cm.close();

    assertStale(() -> completions.poll(new WorkCompletions(1)));
    assertStale(completions::arm);
    assertStale(() -> completions.await(0));
    assertStale(cm::createId);
    assertStale(() -> cm.listen(0, 1));
    assertStale(() -> cm.await(0));
    completions.wakeUp();
    cm.wakeUp();
  }

  @Test
  default void closedDomainDeviceAndMappingRefuseEverything() throws Exception {
    Mapping mapping = rig().provider().hostMemory().allocate(4096);
    long address = mapping.address();
    Device device = rig().provider().open(rig().address());
    ProtectionDomain domain = device.allocateProtectionDomain();
    domain.close();
    device.close();
    mapping.close();

    assertStale(() -> domain.register(address, 4096, Access.REMOTE_READ));
    assertStale(device::allocateProtectionDomain);
    assertStale(() -> device.createCompletionQueue(1));
    assertStale(device::openCmChannel);
    assertStale(device::pollAsyncEvent);
    assertStale(() -> mapping.view(0, 1));
  }

  @Test
  default void completionsOutliveTheirQueuePair() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(64);
    pair.postRead(42, source, rig().sink(64), 64);
    rig().client().completions().arm();
    rig().client().completions().await(RigEnd.WATCH_NS);
    // A second one may be cut short by the close; the first has had its time.
    pair.client().queuePair().close();

    assertThat(rig().client().completion().wrId()).isEqualTo(42);
  }

  private static void assertStale(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOfAny(VerbsException.class, IllegalStateException.class);
  }
}
