/**
 * The verbs interface over DiSNI 2.1 with the native library that travels in the jar: real adapters
 * through the system's libibverbs and librdmacm, or the software adapter.
 *
 * <p>{@link io.rdmashuffle.transport.verbs.disni.DisniProviders} is the way in. It unpacks the
 * library and loads DiSNI together with the {@code impl} package, which alone names DiSNI's types,
 * in a class loader of their own: neither a library path nor a JVM flag is needed, and a DiSNI on
 * the application's class path stays untouched.
 */
package io.rdmashuffle.transport.verbs.disni;
