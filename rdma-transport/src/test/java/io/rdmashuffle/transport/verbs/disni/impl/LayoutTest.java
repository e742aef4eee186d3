package io.rdmashuffle.transport.verbs.disni.impl;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LayoutTest {
  /** As the ABI of 64-bit Linux lays them out (infiniband/verbs.h). */
  private static final int[] NATIVE = {
    32, 16, 48, 0, 8, 16, 24, 28, 32, 40, 48, 0, 8, 16, 24, 0, 8, 12, 0, 8, 12, 16, 20, 28
  };

  @Test
  void layoutOfThisAbiIsAccepted() {
    assertThatCode(() -> Layout.check(NATIVE)).doesNotThrowAnyException();
  }

  @Test
  void anyOtherNumberIsRefused() {
    for (int i = 0; i < NATIVE.length; i++) {
      int[] other = NATIVE.clone();
      other[i] += 4;
      assertRefused(other, "libdisni.so was built for another layout");
    }
  }

  @Test
  void refusalNamesTheStructure() {
    int[] other = NATIVE.clone();
    other[2] = 56;
    assertRefused(other, "sizeof ibv_wc is 56, DiSNI 2.1 and this jar expect 48");
  }

  @Test
  void listOfAnotherLengthIsRefused() {
    assertRefused(Arrays.copyOf(NATIVE, NATIVE.length - 1), "count of numbers");
  }

  private static void assertRefused(int[] layout, String message) {
    assertThatThrownBy(() -> Layout.check(layout))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(message)
        .extracting(e -> ((VerbsException) e).kind())
        .isEqualTo(Kind.CONFIG);
  }
}
