/**
 * Which RDMA adapters this host has, why one cannot be used, and which one is taken.
 *
 * <p>Reads sysfs and nothing else: no library is loaded and no device opened to find out. What the
 * choice leads to is opened through {@code verbs}.
 */
package io.rdmashuffle.transport.device;
