package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.wire.BlockKey;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BlockNamesTest {
  @Test
  void singleBlocksAndBatchesAsSparkPrintsThemAreKeys() {
    assertThat(BlockNames.parse(new ShuffleBlockId(3, 5_000_000_000L, 7).name()))
        .contains(new BlockKey(3, 5_000_000_000L, 7, 8));
    assertThat(BlockNames.parse(new ShuffleBlockBatchId(3, 4, 7, 12).name()))
        .contains(new BlockKey(3, 4, 7, 12));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shuffle_1_2_0.index",
        "shuffle_1_2_0.data",
        "shuffle_1_2_0.checksum.ADLER32",
        "shuffleChunk_1_0_2_3",
        "shufflePush_1_0_2_3",
        "shuffleMerged_app_1_0_2",
        "shuffle_1_2",
        "shuffle_1_2_3_4_5",
        "shuffle_1_-2_3",
        "shuffle_1_2_3_3",
        "shuffle_1_2_2147483647",
        "shuffle_1_2_99999999999",
        "rdd_1_2",
        ""
      })
  void otherNamesAreNot(String name) {
    assertThat(BlockNames.parse(name)).isEmpty();
  }

  @Test
  void invitationIsRecognisedByTheIdThatSparkMakesOfItsName() {
    BlockId id = BlockId.apply(BlockNames.INVITATION);
    assertThat(BlockNames.asksForInvitation(id)).isTrue();
    assertThat(BlockNames.asksForInvitation(new ShuffleBlockId(0, 0, 0))).isFalse();
    assertThat(BlockNames.asksForInvitation(new ShuffleBlockBatchId(0, 0, 0, Integer.MAX_VALUE)))
        .isFalse();
  }
}
