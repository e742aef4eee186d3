package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.storage.BlockId;
import org.junit.jupiter.api.Test;
import scala.Option;

final class RdmaBlockResolverTest {
  private final byte[] invitation = {5, 6, 7};
  private final RdmaBlockResolver resolver =
      RdmaBlockResolver.create(
          new SparkConf(false),
          new RdmaBlockResolver.Hooks(() -> invitation, (shuffle, map) -> {}));

  @Test
  void reservedBlockIsAnsweredWithTheInvitationWithoutSparksHelp() throws IOException {
    // There is no SparkEnv here: whatever touched a file or the block manager would fail.
    ManagedBuffer answer =
        resolver.getBlockData(BlockId.apply(BlockNames.INVITATION), Option.empty());
    assertThat(answer.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(invitation));
  }

  @Test
  void migratedOutputsAreNotedWhereSparkLooksForThem() {
    assertThat(resolver.taskIdMapsForShuffle()).isEmpty();
    assertThat(resolver.taskIdMapsForShuffle())
        .as("Spark puts into it") // the inherited map of Spark 4.0 refuses that
        .isInstanceOf(java.util.concurrent.ConcurrentMap.class);
  }
}
