package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestDeviceTest {
  @Test
  void namesAreUnderstood() throws Exception {
    assertThat(TestDevice.parse("soft").system()).isFalse();
    TestDevice system = TestDevice.parse("system:10.1.2.3");
    assertThat(system.system()).isTrue();
    assertThat(system.address().getHostAddress()).isEqualTo("10.1.2.3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "system", "system:", "mlx5_0"})
  void otherNamesAreRefused(String name) {
    assertThatThrownBy(() -> TestDevice.parse(name))
        .hasMessageContaining(TestDevice.PROPERTY + "=" + name);
  }
}
