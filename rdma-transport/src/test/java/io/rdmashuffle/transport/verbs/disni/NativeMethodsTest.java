package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The native methods by themselves: all are there, and none trusts a handle. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NativeMethodsTest {
  private static final String DISNI = "com.ibm.disni.";

  /** No handle, a negative one, one whose slot was never used, one with a wrong generation. */
  private static final long[] GARBAGE = {0, -1, 1L << 40 | 999_999, 77L << 24 | 1};

  /** They take no handle, or nothing follows from it. */
  private static final Set<String> WITHOUT_HANDLE =
      Set.of("_createEventChannel", "_ackCmEvent", "_ackCqEvent");

  private DisniProvider soft;

  @BeforeAll
  void load() throws Exception {
    soft = DisniProviders.soft();
  }

  @AfterAll
  void unload() {
    soft.close();
  }

  @Test
  void everyNativeMethodOfDisniIsThere() throws Exception {
    List<Method> natives = nativesOf(DISNI + "verbs.impl.NativeDispatcher");
    natives.addAll(nativesOf(DISNI + "util.NativeAffinity"));
    assertThat(natives).hasSize(50);

    long channel = 0;
    for (Method method : natives) {
      Object result = call(method, 0); // an UnsatisfiedLinkError if it is not there
      channel = method.getName().equals("_createEventChannel") ? (long) result : channel;
    }
    assertThat(soft.openObjects()).isEqualTo(1);
    for (Method method : natives) {
      if (method.getName().equals("_destroyEventChannel")) {
        assertThat(call(method, channel)).isEqualTo(0);
      }
    }
    assertThat(soft.openObjects()).isZero();
  }

  @Test
  void noMethodOfDisniTrustsAHandle() throws Exception {
    for (Method method : nativesOf(DISNI + "verbs.impl.NativeDispatcher")) {
      boolean takesHandle = Arrays.asList(method.getParameterTypes()).contains(long.class);
      for (long handle : GARBAGE) {
        if (takesHandle && !WITHOUT_HANDLE.contains(method.getName())) {
          Object result = call(method, handle);
          assertThat(refused(result)).as("%s(%s): %s", method.getName(), handle, result).isTrue();
        }
      }
    }
  }

  @Test
  void noMethodOfOursTrustsAHandle() throws Exception {
    Set<String> handled =
        Set.of(
            "nextEvent",
            "connect",
            "accept",
            "reject",
            "deviceName",
            "deviceAttributes",
            "asyncEvent",
            "awaitCompletion",
            "allowRemoteReads",
            "moveToError");
    List<Method> natives = nativesOf(DisniClassLoader.IMPLEMENTATION_PACKAGE + "NativeExtras");
    assertThat(natives).extracting(Method::getName).containsAll(handled);
    for (Method method : natives) {
      for (long handle : GARBAGE) {
        if (handled.contains(method.getName())) {
          Object result = call(method, handle);
          assertThat(result).as("%s(%s)", method.getName(), handle).isInstanceOf(IOException.class);
          assertThat((IOException) result).hasMessageContaining("is closed");
        } else if (method.getName().startsWith("wake")) {
          assertThat(call(method, handle)).isNull();
        }
      }
    }
  }

  @Test
  void affinityIsReadAndSet() throws Exception {
    List<Method> natives = nativesOf(DISNI + "util.NativeAffinity");
    Method get = natives.stream().filter(m -> m.getName().equals("_getAffinity")).findAny().get();
    Method set = natives.stream().filter(m -> m.getName().equals("_setAffinity")).findAny().get();

    long mask = (long) get.invoke(null);
    assertThat(mask).isNotZero();
    long one = Long.lowestOneBit(mask);
    set.invoke(null, one);
    assertThat((long) get.invoke(null)).isEqualTo(one);
    set.invoke(null, mask);
    assertThat((long) get.invoke(null)).isEqualTo(mask);
  }

  private List<Method> nativesOf(String name) throws Exception {
    List<Method> natives = new ArrayList<>();
    for (Method method : soft.getClass().getClassLoader().loadClass(name).getDeclaredMethods()) {
      if (Modifier.isNative(method.getModifiers())) {
        method.setAccessible(true);
        natives.add(method);
      }
    }
    return natives;
  }

  /** What it returned, or the IOException it threw; anything else it threw is an error. */
  private static Object call(Method method, long handle) throws Exception {
    Object target = null;
    if (!Modifier.isStatic(method.getModifiers())) {
      Constructor<?> make = method.getDeclaringClass().getDeclaredConstructor();
      make.setAccessible(true);
      target = make.newInstance();
    }
    try {
      return method.invoke(target, arguments(method, handle));
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IOException refused) {
        return refused;
      }
      throw e;
    }
  }

  private static Object[] arguments(Method method, long handle) {
    return Arrays.stream(method.getParameterTypes())
        .map(
            type -> {
              if (type == long.class) {
                return handle;
              }
              if (type == byte[].class) {
                return new byte[4];
              }
              if (type == boolean.class) {
                return false;
              }
              return type == short.class
                  ? (Object) (short) 262
                  : type == byte.class ? (Object) (byte) 0 : (Object) 1;
            })
        .toArray();
  }

  private static boolean refused(Object result) {
    return result instanceof IOException || (result instanceof Number n && n.longValue() < 0);
  }
}
