package io.rdmashuffle.transport.verbs.disni.impl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
  @Test
  void messageTellsCallSubjectNameAndNumber() {
    VerbsException failure = Failures.of(new NativeFailure("ibv_reg_mr", 12), "of 4096 bytes");

    assertThat(failure).hasMessage("ibv_reg_mr of 4096 bytes: ENOMEM (12)");
    assertThat(failure.errno()).isEqualTo(12);
  }

  @ParameterizedTest
  @CsvSource({
    "11, RETRY", // EAGAIN
    "12, RETRY", // ENOMEM
    "104, PEER_LOST", // ECONNRESET
    "110, PEER_LOST", // ETIMEDOUT
    "1, CONFIG", // EPERM
    "14, CONFIG", // EFAULT
    "19, CONFIG", // ENODEV
    "98, CONFIG", // EADDRINUSE
    "9, BUG", // EBADF
    "22, BUG", // EINVAL
    "9999, BUG"
  })
  void errnoDecidesTheKind(int errno, Kind kind) {
    assertThat(Failures.of("call", "", errno).kind()).isEqualTo(kind);
  }

  @Test
  void failureWithoutErrnoKeepsItsCause() {
    IOException cause = new IOException("Polling CQ failed");

    VerbsException failure = Failures.of(cause, "on soft0");

    assertThat(failure).hasMessageContaining("Polling CQ failed on soft0").hasCause(cause);
    assertThat(failure.errno()).isZero();
  }

  @Test
  void closeMethodsThrowUncheckedWithTheSameMessage() {
    assertThatCode(() -> Failures.checkClosed(0, "ibv_destroy_cq", "on mlx5_0"))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> Failures.checkClosed(-16, "ibv_destroy_cq", "on mlx5_0"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("ibv_destroy_cq on mlx5_0: EBUSY (16)");
  }
}
