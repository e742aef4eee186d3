package io.rdmashuffle.core.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.config.BindNetwork;
import io.rdmashuffle.transport.device.DeviceSetting;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DoctorOptionsTest {
  private static DoctorOptions parse(String... arguments) {
    return DoctorOptions.parse(arguments);
  }

  @Test
  void withoutArgumentsItLooksAtWhatAJobWouldUse() {
    DoctorOptions options = parse();
    assertThat(options.device().device()).isEqualTo(DeviceSetting.AUTO);
    assertThat(options.device().network()).isEqualTo(BindNetwork.ANY);
    assertThat(options.folders()).containsExactly(Path.of(System.getProperty("java.io.tmpdir")));
    assertThat(options.peer()).isEmpty();
    assertThat(options.json()).isFalse();
  }

  @Test
  void everythingCanBeNamed() {
    DoctorOptions options =
        parse(("--device soft --bind 10.0.0.0/8 --dir /a --dir /b --need 64m --json").split(" "));
    assertThat(options.device().device()).hasToString("soft");
    assertThat(options.device().network()).hasToString("10.0.0.0/8");
    assertThat(options.folders()).containsExactly(Path.of("/a"), Path.of("/b"));
    assertThat(options.wanted().bytes()).isEqualTo(64 << 20);
    assertThat(options.json()).isTrue();
  }

  @Test
  void aCodeComesBackAsItWasPrinted() {
    String code = "10.1.2.3:40001/ffffffffffffff01/00a1ff";
    assertThat(PeerCode.parse(code).format()).isEqualTo(code);
    assertThat(PeerCode.parse(code)).hasToString("10.1.2.3:40001");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--nonsense",
        "--device",
        "--device foo:x",
        "--bind 10.0.0",
        "--need=1",
        "--peer host:1/1/00",
        "--peer 10.0.0.1:1/1/0",
        "--peer 10.0.0.1:99999/1/00",
        "--need much"
      })
  void whatItDoesNotUnderstandIsNamed(String arguments) {
    String[] words = arguments.split(" ");
    assertThatThrownBy(() -> parse(words))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .isNotBlank();
  }
}
