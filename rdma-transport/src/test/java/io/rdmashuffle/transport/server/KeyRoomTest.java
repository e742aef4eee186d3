package io.rdmashuffle.transport.server;

import static io.rdmashuffle.transport.server.ServerSettings.MOST_KEYS;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class KeyRoomTest {
  private final KeyRoom room = new KeyRoom();
  private final KeyRoom.Share one = room.new Share();
  private final KeyRoom.Share other = room.new Share();

  @Test
  void aDomainGetsHalfOfWhatTheOthersLeave() {
    assertThat(one.take(MOST_KEYS)).isEqualTo(MOST_KEYS / 2);
    assertThat(other.take(MOST_KEYS)).isEqualTo(MOST_KEYS / 4);

    one.giveBack(MOST_KEYS / 2);

    assertThat(other.take(MOST_KEYS)).as("besides what it has").isEqualTo(MOST_KEYS / 4);
    assertThat(one.take(256)).isEqualTo(256);
  }

  @Test
  void oneKeyAlwaysHasRoom() {
    one.take(MOST_KEYS);

    assertThat(one.take(256)).isEqualTo(1);
    assertThat(one.take(256)).isEqualTo(1);

    one.giveBack(MOST_KEYS / 2 + 2);
    assertThat(one.take(256)).isEqualTo(256);
  }
}
