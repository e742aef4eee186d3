package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the kernel, the adapter and the file system may refuse. */
final class RegistrationFailureTest {
  private static final int PAGE = ServerRig.PAGE;
  @TempDir private Path directory;
  private ServerRig rig;
  private ScriptedOwnerChannel channel;

  @BeforeEach
  void open() throws IOException {
    rig = new ServerRig(directory, ServerRig.settings(), ServerRig.UNLIMITED);
    channel = rig.connect();
    rig.fetch(channel, rig.block(rig.file(1000), 0, 1000)); // registers the staging memory
  }

  @AfterEach
  void close() {
    rig.breakOff(channel);
    rig.close();
  }

  private void checkStaged(OutputFile file, long offset, long bytes) throws IOException {
    checkFetched(file, offset, bytes, true);
  }

  private void checkFetched(OutputFile file, long offset, long bytes, boolean staged)
      throws IOException {
    Reply.Located located = rig.locate(channel, rig.block(file, offset, bytes));
    Reply.Granted granted = (Reply.Granted) located.answers().get(0);
    assertThat(granted.staged()).isEqualTo(staged);
    assertThat(rig.read(granted)).isEqualTo(ServerRig.bytes(file, offset, bytes));
    rig.release(channel, located.lease());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void withoutMemoryForOneWindowOfABlockTheBlockIsCopiedAndNothingStaysHeld(int nth)
      throws IOException {
    OutputFile file = rig.file(48 * PAGE); // three windows
    rig.fabric.faults().refuseRegistration(nth, Errno.ENOMEM);

    checkStaged(file, 0, 48 * PAGE);

    assertThat(rig.count(Counter.REGISTRATIONS_FAILED)).isEqualTo(1);
    assertThat(rig.count(Counter.LEASES_LIVE)).isZero();
  }

  @Test
  void otherBlocksOfTheRequestAreNotConcerned() throws IOException {
    OutputFile file = rig.file(16 * PAGE);
    OutputFile other = rig.file(16 * PAGE);
    rig.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
    Reply.Located located =
        rig.locate(channel, rig.block(file, 0, 8 * PAGE), rig.block(other, 0, 8 * PAGE));
    assertThat(((Reply.Granted) located.answers().get(0)).staged()).isTrue();
    assertThat(((Reply.Granted) located.answers().get(1)).staged()).isFalse();
  }

  /** One is copied at once, the other when it turns out that it cannot be registered. */
  @Test
  void copiesOfOneLeaseAllReturnThoughNobodyCanBeAskedToShrinkTheirMemory() throws IOException {
    BlockKey small = rig.block(rig.file(1000), 0, 1000);
    BlockKey large = rig.block(rig.file(8 * PAGE), 0, 8 * PAGE);
    rig.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
    Reply.Located located = rig.locate(channel, small, large);
    assertThat(located.answers()).allMatch(a -> ((Reply.Granted) a).staged());
    ProtectionDomain tenant = rig.newDomain();
    ScriptedOwnerChannel other = rig.connect(tenant); // so that there is more than a fair share
    rig.run();
    assertThat(rig.registeredBytes()).isPositive();
    List<Throwable> failures = rig.loop.keepFailures();
    OutOfMemoryError shortage = new OutOfMemoryError("the test's");
    rig.pool.breakNext(shortage);

    assertThatCode(() -> rig.release(channel, located.lease())).doesNotThrowAnyException();

    assertThat(failures).containsExactly(shortage);
    assertThat(rig.registeredBytes()).isZero();
    rig.breakOff(other);
    rig.server.forget(tenant);
    rig.run();
    tenant.close();
  }

  @Test
  void registeringPausesAfterItFailedAndIsResumed() throws IOException {
    OutputFile file = rig.file(64 * PAGE);
    rig.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
    checkStaged(file, 0, 4 * PAGE);
    checkStaged(file, 0, 4 * PAGE);
    assertThat(rig.count(Counter.REGISTRATIONS_FAILED)).isEqualTo(1);

    rig.advance(Duration.ofMillis(100));
    checkFetched(file, 0, 4 * PAGE, false);
  }

  @Test
  void afterAFailureTheNextRegistrationEvictsInsteadOfAskingForMore() throws IOException {
    OutputFile first = rig.file(16 * PAGE);
    OutputFile second = rig.file(16 * PAGE);
    checkFetched(first, 0, 16 * PAGE, false);
    rig.fabric.faults().refuseRegistration(1, Errno.ENOMEM);
    checkStaged(second, 0, 16 * PAGE);

    rig.advance(Duration.ofMillis(100));
    checkFetched(second, 0, 16 * PAGE, false);
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isEqualTo(1);
  }

  @Test
  void aDirectoryWhoseMappingsAreRefusedIsServedByCopying() throws IOException {
    rig.fabric.faults().refuseFiles((path, mode) -> true);
    OutputFile file = rig.file(64 * PAGE);
    checkStaged(file, 0, 40 * PAGE);
    long failed = rig.count(Counter.REGISTRATIONS_FAILED);
    checkStaged(rig.file(64 * PAGE), 7, 40 * PAGE);
    assertThat(rig.count(Counter.REGISTRATIONS_FAILED)).isEqualTo(failed);
  }

  @Test
  void aKernelThatWantsMappingsWritableIsServedFromWindows() throws IOException {
    rig.fabric.faults().refuseFiles((path, mode) -> mode == MapMode.READ_ONLY);
    OutputFile file = rig.file(64 * PAGE);
    checkFetched(file, 0, 16 * PAGE, false);
    checkFetched(file, 16 * PAGE, 40 * PAGE, false);
    rig.fabric.faults().refuseFiles((path, mode) -> true);
    checkStaged(file, 60 * PAGE, 3 * PAGE);
  }

  @Test
  void aFileThatIsGoneFallsBack() throws IOException {
    OutputFile file = rig.file(16 * PAGE);
    Files.delete(file.path());
    assertFallsBack(file);
  }

  @Test
  void aFileShorterThanItsIndexFallsBack() throws IOException {
    OutputFile file = rig.file(16 * PAGE);
    try (FileChannel open = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
      open.truncate(16 * PAGE - 1);
    }
    assertFallsBack(file);
  }

  @Test
  void aFileReplacedSinceItWasFirstReadFallsBack() throws IOException {
    OutputFile file = rig.file(16 * PAGE);
    checkStaged(file, 0, 1000);
    Files.delete(file.path());
    Files.write(file.path(), new byte[16 * PAGE]);
    assertFallsBack(file);
  }

  private void assertFallsBack(OutputFile file) {
    Reply.NotByRdma changed = new Reply.NotByRdma(FallbackReason.FILE_CHANGED);
    BlockKey large = rig.block(file, 0, 8 * PAGE);
    BlockKey small = rig.block(file, 9 * PAGE, 1000);
    BlockKey tiny = rig.block(file, 0, 10);
    assertThat(rig.locateOne(channel, large)).isEqualTo(changed);
    assertThat(rig.locateOne(channel, small)).isEqualTo(changed);
    assertThat(rig.locateOne(channel, tiny)).isEqualTo(changed);
    assertThat(rig.locate(channel, large, small, tiny).lease()).isZero();
    assertThat(channel.closeCause()).isNull();
  }

  @Test
  void anUnlinkedFileIsServedFromItsWindows() throws IOException {
    OutputFile file = rig.file(16 * PAGE);
    byte[] content = Files.readAllBytes(file.path());
    BlockKey key = rig.block(file, 0, 16 * PAGE);
    rig.fetch(channel, key);
    Files.delete(file.path());
    assertThat(rig.fetch(channel, key)).isEqualTo(content);
  }

  @Test
  void aSlowPoolThatIsShutRefusesWithoutHarm() throws IOException {
    rig.pool.shut();
    BlockKey key = rig.block(rig.file(16 * PAGE), 0, 8 * PAGE);
    assertThat(rig.locateOne(channel, key)).isEqualTo(new Reply.NotByRdma(FallbackReason.STOPPING));
    rig.pool.reopen();
  }
}
