package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;

/**
 * Loads verbs providers. Each call loads native code and classes anew, so a process asks once for
 * each kind it needs and keeps the result. Any thread; slow.
 *
 * <p><b>Errors:</b> of kind {@link Kind#CONFIG}, with the reason and the remedy: this jar has no
 * native code, or none for this host; libibverbs or librdmacm are not installed; the temporary
 * directory forbids execution; another version of DiSNI answers.
 */
public final class DisniProviders {
  private static final String IMPLEMENTATION =
      DisniClassLoader.IMPLEMENTATION_PACKAGE + "LoadedProvider";

  private DisniProviders() {}

  /** The adapters of this host, through the system's librdmacm and libibverbs. */
  public static DisniProvider system() throws TransportException {
    try (UnpackedLibraries unpacked = UnpackedLibraries.unpack("disni")) {
      try {
        return load(unpacked, "librdmacm.so.1", "libibverbs.so.1");
      } catch (MissingLibraryException e) {
        throw new TransportException(
            Kind.CONFIG,
            e.getMessage()
                + ". Install the RDMA libraries: librdmacm1 libibverbs1 ibverbs-providers (Debian,"
                + " Ubuntu), librdmacm libibverbs (RHEL and its kin)");
      }
    }
  }

  /**
   * The software adapter that travels in the jar, for development, tests and demonstrations. Every
   * IPv4 address of this host leads to its one device, {@code soft0}.
   */
  public static DisniProvider soft() throws TransportException {
    return soft(OwnResources.ofThisJar());
  }

  static DisniProvider soft(OwnResources natives) throws TransportException {
    try (UnpackedLibraries unpacked = UnpackedLibraries.unpack(natives, "disni", "softhca")) {
      String adapter = unpacked.path("softhca").toString();
      return load(unpacked, adapter, adapter);
    }
  }

  static DisniProvider load(UnpackedLibraries unpacked, String cmLibrary, String verbsLibrary)
      throws TransportException {
    Path library = unpacked.path("disni");
    DisniClassLoader loader = DisniClassLoader.create(library);
    loader.loadNatives();
    try {
      Class<?> provider = Class.forName(IMPLEMENTATION, true, loader);
      return (DisniProvider)
          provider
              .getMethod("open", String.class, String.class)
              .invoke(null, cmLibrary, verbsLibrary);
    } catch (InvocationTargetException e) {
      throw whyNotOpened(e.getCause(), library);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new TransportException(Kind.BUG, "loading " + IMPLEMENTATION + " failed: " + e, e);
    }
  }

  private static TransportException whyNotOpened(Throwable cause, Path library) {
    if (cause instanceof TransportException reason) {
      return reason;
    }
    if (cause instanceof VirtualMachineError error) {
      throw error; // of memory, for instance: nothing is wrong with the library
    }
    if (cause instanceof UnsatisfiedLinkError) {
      return new TransportException(
          Kind.CONFIG,
          library.getFileName()
              + " was loaded, but is not the library of this jar: it has no native method "
              + cause.getMessage(),
          cause);
    }
    return new TransportException(
        Kind.BUG, "opening the verbs libraries through DiSNI failed: " + cause, cause);
  }
}
