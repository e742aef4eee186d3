package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ChannelSettingsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void valuesOutOfRangeAreNamed() {
    assertThatThrownBy(() -> settings(0, 1, 1, SECOND))
        .hasMessage("requestsInFlight=0 is outside 1 to 1024");
    assertThatThrownBy(() -> settings(1, 16_385, 1, SECOND))
        .hasMessage("readsInFlight=16385 is outside 1 to 16384");
    assertThatThrownBy(() -> settings(1, 1, 0, SECOND))
        .hasMessage("maxConnections=0 is outside 1 to 65536");
    assertThatThrownBy(() -> settings(1, 1, 1, Duration.ofHours(25)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("keepAlive=PT25H is outside PT0.001S to PT24H");
  }

  @Test
  void theSmallestSettingsConnect() throws Exception {
    try (Network net = new Network(settings(1, 1, 2, SECOND))) {
      RecordingListener listener = net.connect();
      for (int i = 0; i < 5; i++) {
        listener.channel.request(Messages.locate(256), 1_000_000, listener.replyHandler());
        net.settle();
      }
      assertThat(listener.replies).hasSize(5);
    }
  }

  private static ChannelSettings settings(
      int requests, int reads, int connections, Duration keepAlive) {
    return new ChannelSettings(
        requests, reads, connections, SECOND, SECOND, keepAlive, SECOND, Duration.ZERO);
  }
}
