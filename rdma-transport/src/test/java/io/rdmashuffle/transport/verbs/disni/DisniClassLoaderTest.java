package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.Device;
import java.net.InetAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DisniClassLoaderTest {
  private static final String DISPATCHER = "com.ibm.disni.verbs.impl.NativeDispatcher";

  @Test
  void disniOfTheApplicationStaysUntouched() throws Exception {
    ClassLoader application = getClass().getClassLoader();
    assertThatThrownBy(() -> Class.forName(DISPATCHER, true, application))
        .as("without a library path the application's own DiSNI has no natives")
        .isInstanceOf(UnsatisfiedLinkError.class);

    try (DisniProvider provider = DisniProviders.soft()) {
      assertWorks(provider);
      Class<?> ours = provider.getClass().getClassLoader().loadClass(DISPATCHER);
      assertThat(ours).isNotSameAs(application.loadClass(DISPATCHER));
    }
    assertThat(Object.class.getModule().isExported("sun.nio.ch", application.getUnnamedModule()))
        .as("JDK internals opened to the application")
        .isFalse();
  }

  @Test
  void providersLiveSideBySide() throws Exception {
    try (DisniProvider first = DisniProviders.soft();
        DisniProvider second = DisniProviders.soft()) {
      Device device = first.open(InetAddress.getByName("127.0.0.1"));
      assertThat(first.openObjects()).isPositive();
      assertThat(second.openObjects()).isZero();
      assertWorks(second);
      device.close();
      assertThat(first.openObjects()).isZero();
    }
  }

  @Test
  void closedProviderOpensNothingMore() throws Exception {
    DisniProvider provider = DisniProviders.soft();
    provider.close();
    provider.close();

    assertConfigOrBug(() -> provider.open(InetAddress.getByName("127.0.0.1")), "closed");
  }

  @Test
  void otherVersionOfDisniIsRefusedByItsPlace(@TempDir Path folder) throws Exception {
    Path source = folder.resolve("NativeDispatcher.java");
    Files.writeString(
        source,
        "package com.ibm.disni.verbs.impl;\n"
            + "public class NativeDispatcher { static { System.loadLibrary(\"disni\"); } }\n");
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", folder.toString(), source.toString());
    assertThat(failed).isZero();
    URL place = folder.toUri().toURL();

    try (URLClassLoader classPath = new URLClassLoader(new URL[] {place}, null);
        UnpackedLibraries libraries = UnpackedLibraries.unpack("disni");
        DisniClassLoader loader =
            DisniClassLoader.create(ownClassesOver(classPath), libraries.path("disni"))) {
      assertConfigOrBug(loader::loadNatives, place + " is not DiSNI 2.1");
    }
  }

  @Test
  void missingDisniIsSaidSo() throws Exception {
    try (URLClassLoader nothing = new URLClassLoader(new URL[0], null)) {
      assertConfigOrBug(
          () -> DisniClassLoader.create(ownClassesOver(nothing), Path.of("libdisni.so")),
          "DiSNI 2.1 (com.ibm.disni:disni) is not on the class path");
    }
  }

  @Test
  void loadErrorsAreExplained() throws Exception {
    Path library = Path.of("/mnt/scratch/rdmashuffle-1/libdisni.so");
    URL disni = URI.create("file:/opt/disni.jar").toURL();

    assertThat(
            DisniClassLoader.explain(
                new UnsatisfiedLinkError(library + ": failed to map segment from shared object"),
                library,
                disni))
        .contains("/mnt/scratch forbids execution", "java.io.tmpdir");
    assertThat(
            DisniClassLoader.explain(
                new UnsatisfiedLinkError("version `GLIBC_2.28' not found"), library, disni))
        .contains("older than glibc 2.28");
    assertThat(
            DisniClassLoader.explain(
                new ExceptionInInitializerError(
                    new IllegalCallerException("Illegal native access")),
                library,
                disni))
        .contains("--enable-native-access=ALL-UNNAMED");
    assertThat(DisniClassLoader.explain(new UnsatisfiedLinkError("odd"), library, disni))
        .contains(library.toString(), "odd");
  }

  @Test
  void missingVerbsLibraryIsNamed() throws Exception {
    try (UnpackedLibraries libraries = UnpackedLibraries.unpack("disni")) {
      assertConfigOrBug(
          () -> DisniProviders.load(libraries, "librdmacm-none.so.9", "libibverbs-none.so.9"),
          "librdmacm-none.so.9: cannot open shared object file");
    }
  }

  @Test
  void libraryThatLacksAFunctionIsNamedWithIt() throws Exception {
    try (UnpackedLibraries libraries = UnpackedLibraries.unpack("disni")) {
      assertConfigOrBug(
          () -> DisniProviders.load(libraries, "libc.so.6", "libc.so.6"),
          "libc.so.6 lacks rdma_create_event_channel");
    }
  }

  @Test
  void systemLibrariesOrTheirPackagesAreNamed() throws Exception {
    try (DisniProvider provider = DisniProviders.system()) {
      String nobodys = "192.0.2.1"; // RFC 5737: for documentation
      assertConfigOrBug(() -> provider.open(InetAddress.getByName(nobodys)).close(), nobodys);
    } catch (MissingLibraryException e) {
      assertThat(e).hasMessageContaining("librdmacm1 libibverbs1 ibverbs-providers");
    }
  }

  private static OwnResources ownClassesOver(ClassLoader classPath) {
    return new OwnResources(classPath, OwnResources.ofThisJar().base());
  }

  private static void assertWorks(DisniProvider provider) throws Exception {
    try (Device device = provider.open(InetAddress.getByName("127.0.0.1"))) {
      device.allocateProtectionDomain().close();
      assertThat(device.name()).isEqualTo("soft0");
    }
    assertThat(provider.openObjects()).isZero();
  }

  private static void assertConfigOrBug(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(message)
        .extracting(e -> ((TransportException) e).kind())
        .isEqualTo(message.equals("closed") ? Kind.BUG : Kind.CONFIG);
  }
}
