package io.rdmashuffle.transport.testing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class RequirementsTest {
  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"true", "false"})
  void presentRequirementLetsTheTestRun(String ci) {
    assertThatCode(() -> Requirements.require(true, "unused", ci)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "false"})
  void missingRequirementSkipsTheTestWithTheReason(String ci) {
    assertThatThrownBy(() -> Requirements.require(false, "no adapter", ci))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("no adapter");
  }

  @Test
  void missingRequirementFailsTheTestOnCi() {
    assertThatThrownBy(() -> Requirements.require(false, "no adapter", "true"))
        .isInstanceOf(AssertionFailedError.class)
        .hasMessageContaining("no adapter");
  }
}
