package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import com.ibm.disni.verbs.impl.RdmaProviderNat;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.lang.reflect.Field;

/**
 * DiSNI as this package uses it.
 *
 * @param natives its native methods
 * @param verbs its calls on devices
 * @param libraries what they call
 */
record Disni(NativeDispatcher natives, RdmaVerbs verbs, LoadedLibraries libraries) {
  /** Starts DiSNI, which checks sizes and its version, and logs them once. */
  static Disni start(LoadedLibraries libraries) throws VerbsException {
    try {
      RdmaProvider provider = RdmaProvider.provider();
      // Its constructor is not public; the provider keeps the one instance in a private field.
      Field field = RdmaProviderNat.class.getDeclaredField("nativeDispatcher");
      field.setAccessible(true);
      return new Disni((NativeDispatcher) field.get(provider), provider.openVerbs(), libraries);
    } catch (IOException | ReflectiveOperationException e) {
      throw new VerbsException(Kind.CONFIG, "DiSNI does not start: " + e, e);
    }
  }
}
