package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Defines DiSNI and the classes that use it itself, before asking its parent, and answers
 * System.loadLibrary("disni") with the library of this jar.
 *
 * <p>One per provider: DiSNI keeps its state in statics, and the JVM loads a native library once
 * per class loader. Never closed: it ends with the last object of its provider.
 */
final class DisniClassLoader extends URLClassLoader {
  static final String IMPLEMENTATION_PACKAGE = "io.rdmashuffle.transport.verbs.disni.impl.";
  private static final String DISNI_PACKAGE = "com.ibm.disni.";
  private static final String DISPATCHER = DISNI_PACKAGE + "verbs.impl.NativeDispatcher";
  private static final String AFFINITY = DISNI_PACKAGE + "util.NativeAffinity";

  static {
    registerAsParallelCapable();
  }

  private final Path library;
  private final URL disni;

  private DisniClassLoader(OwnResources own, URL disni, Path library) throws MalformedURLException {
    super("disni", new URL[] {new URL(own.base()), disni}, own.loader());
    this.library = library;
    this.disni = disni;
  }

  /**
   * DiSNI comes from this jar if it holds it, else from the first place on the class path.
   *
   * @param library stays until {@link #loadNatives} has returned
   */
  static DisniClassLoader create(Path library) throws TransportException {
    return create(OwnResources.ofThisJar(), library);
  }

  static DisniClassLoader create(OwnResources own, Path library) throws TransportException {
    try {
      String dispatcher = DISPATCHER.replace('.', '/') + ".class";
      URL found = own.findPreferringOwn(dispatcher);
      if (found == null) {
        throw new TransportException(
            Kind.CONFIG, "DiSNI 2.1 (com.ibm.disni:disni) is not on the class path");
      }
      String text = found.toString();
      URL base = new URL(text.substring(0, text.length() - dispatcher.length()));
      return new DisniClassLoader(own, base, library);
    } catch (TransportException e) {
      throw e;
    } catch (IOException e) {
      throw new TransportException(Kind.CONFIG, "looking for DiSNI on the class path failed", e);
    }
  }

  /**
   * Loads the library for both classes of DiSNI that ask for it. Both must find the same file: a
   * second copy would take over the native methods with an empty state of its own.
   */
  void loadNatives() throws TransportException {
    try {
      Class.forName(DISPATCHER, true, this);
      Class.forName(AFFINITY, true, this);
    } catch (ClassNotFoundException | LinkageError | IllegalCallerException e) {
      throw new TransportException(Kind.CONFIG, explain(e, library, disni), e);
    }
  }

  static String explain(Throwable e, Path library, URL disni) {
    if (e instanceof ExceptionInInitializerError && e.getCause() != null) {
      return explain(e.getCause(), library, disni);
    }
    String message = String.valueOf(e.getMessage());
    if (e instanceof IllegalCallerException) {
      return "this JVM forbids native code: start it with --enable-native-access=ALL-UNNAMED ("
          + message
          + ")";
    }
    if (e instanceof UnsatisfiedLinkError && message.contains("failed to map segment")) {
      return "the directory "
          + library.getParent().getParent()
          + " forbids execution (mounted noexec?): set java.io.tmpdir to one that allows it";
    }
    if (e instanceof UnsatisfiedLinkError && message.contains("GLIBC_")) {
      return "the C library of this host is older than glibc 2.28: " + message;
    }
    if (e instanceof UnsatisfiedLinkError) {
      return "loading " + library + " failed: " + message;
    }
    return disni + " is not DiSNI 2.1, for which this jar was built: " + e;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(DISNI_PACKAGE) && !name.startsWith(IMPLEMENTATION_PACKAGE)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) { // as ClassLoader.loadClass does
      Class<?> type = findLoadedClass(name);
      if (type == null) {
        type = findClass(name);
      }
      if (resolve) {
        resolveClass(type);
      }
      return type;
    }
  }

  @Override
  protected String findLibrary(String name) {
    return name.equals("disni") ? library.toString() : null;
  }
}
