package io.rdmashuffle.transport.testing.link;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The classes of some jars and of the JDK, read when asked for. */
public final class ClassIndex implements AutoCloseable {
  private final List<JarFile> jars = new ArrayList<>();
  private final Map<String, Optional<ClassFile>> known = new HashMap<>();

  public ClassIndex(Collection<Path> files) throws IOException {
    for (Path file : files) {
      jars.add(new JarFile(file.toFile()));
    }
  }

  public Optional<ClassFile> find(String name) {
    Optional<ClassFile> found = known.get(name);
    if (found == null) {
      found = load(name);
      known.put(name, found);
    }
    return found;
  }

  private Optional<ClassFile> load(String name) {
    String path = name + ".class";
    try {
      for (JarFile jar : jars) {
        JarEntry entry = jar.getJarEntry(path);
        if (entry != null) {
          return Optional.of(ClassFile.read(jar.getInputStream(entry)));
        }
      }
      InputStream platform =
          name.startsWith("java/") ? ClassLoader.getSystemResourceAsStream(path) : null;
      return platform == null ? Optional.empty() : Optional.of(ClassFile.read(platform));
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }

  @Override
  public void close() throws IOException {
    for (JarFile jar : jars) {
      jar.close();
    }
  }
}
