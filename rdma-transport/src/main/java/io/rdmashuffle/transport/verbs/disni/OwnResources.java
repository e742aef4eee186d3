package io.rdmashuffle.transport.verbs.disni;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;

/**
 * Resources as one class's own jar or folder holds them, whatever else is on the class path.
 *
 * @param loader finds resources
 * @param base what the URLs of that jar start with, up to the slash before the entry's name
 */
record OwnResources(ClassLoader loader, String base) {
  /** Those beside this class. */
  static OwnResources ofThisJar() {
    String self = OwnResources.class.getName().replace('.', '/') + ".class";
    ClassLoader loader = OwnResources.class.getClassLoader();
    String url = OwnResources.class.getResource("/" + self).toString();
    return new OwnResources(loader, url.substring(0, url.length() - self.length()));
  }

  /** Null if there is none. */
  URL find(String name) throws IOException {
    for (URL url : Collections.list(loader.getResources(name))) {
      if (url.toString().startsWith(base)) {
        return url;
      }
    }
    return null;
  }

  /** As {@link #find}, or the first of the class path where this jar has none. */
  URL findPreferringOwn(String name) throws IOException {
    URL own = find(name);
    return own != null ? own : loader.getResource(name);
  }
}
