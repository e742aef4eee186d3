package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.server.StagingLayout.Place;
import org.junit.jupiter.api.Test;

final class StagingLayoutTest {
  private final StagingLayout layout = new StagingLayout(1024, 4, 4);

  @Test
  void smallBlocksShareAChunkAtAlignedOffsets() {
    assertThat(layout.add(10)).isEqualTo(new Place(0, 0));
    assertThat(layout.add(64)).isEqualTo(new Place(0, 64));
    assertThat(layout.add(65)).isEqualTo(new Place(0, 128));
    assertThat(layout.add(1)).isEqualTo(new Place(0, 256));
    assertThat(layout.chunks()).isEqualTo(1);
  }

  @Test
  void aBlockThatFitsAChunkNeverCrossesAnEdge() {
    layout.add(700);
    assertThat(layout.add(324)).isEqualTo(new Place(1, 0));
    assertThat(layout.add(1024)).isEqualTo(new Place(2, 0));
    assertThat(layout.chunks()).isEqualTo(3);
  }

  @Test
  void aLargeBlockTakesSeveralChunksAndLeavesTheRestOfTheLast() {
    assertThat(layout.add(2100)).isEqualTo(new Place(0, 0));
    assertThat(layout.pieces(2100)).isEqualTo(3);
    assertThat(layout.add(100)).isEqualTo(new Place(2, 64));
    assertThat(layout.chunks()).isEqualTo(3);
  }

  @Test
  void aBlockOverTheLimitIsRefusedAndChangesNothing() {
    layout.add(1024);
    assertThat(layout.add(3073)).isNull();
    assertThat(layout.chunks()).isEqualTo(1);
    assertThat(layout.add(3072)).isEqualTo(new Place(1, 0));
    assertThat(layout.add(1)).isNull();
  }

  @Test
  void onlyASingleBlockExceedsTheShareOfARequest() {
    StagingLayout shared = new StagingLayout(1024, 4, 2);
    assertThat(shared.add(1024)).isEqualTo(new Place(0, 0));
    assertThat(shared.add(1025)).isNull();
    assertThat(shared.add(1024)).isEqualTo(new Place(1, 0));
    assertThat(new StagingLayout(1024, 4, 2).add(4096)).isEqualTo(new Place(0, 0));
    assertThat(new StagingLayout(1024, 4, 2).add(4097)).isNull();
  }
}
