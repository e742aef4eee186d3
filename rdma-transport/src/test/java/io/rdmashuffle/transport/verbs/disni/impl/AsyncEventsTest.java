package io.rdmashuffle.transport.verbs.disni.impl;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.AsyncEvent.Type;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AsyncEventsTest {
  @ParameterizedTest
  @CsvSource({
    "0, CQ_ERROR",
    "1, QP_ERROR",
    "2, QP_ERROR",
    "3, QP_ERROR",
    "4, OTHER", // IBV_EVENT_COMM_EST
    "8, DEVICE_FATAL",
    "9, PORT_ACTIVE",
    "10, PORT_DOWN",
    "11, OTHER", // IBV_EVENT_LID_CHANGE
    "99, OTHER"
  })
  void eventsAreGroupedByWhatFollows(int code, Type type) {
    assertThat(AsyncEvents.type(code)).isEqualTo(type);
  }
}
