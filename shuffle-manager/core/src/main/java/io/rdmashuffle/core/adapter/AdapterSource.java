package io.rdmashuffle.core.adapter;

import io.rdmashuffle.transport.TransportException;

/** Where an adapter comes from: {@link AdapterFinder#find}, or a test's own. */
@FunctionalInterface
public interface AdapterSource {
  /** As {@link AdapterFinder#find}. */
  AdapterFinder.Found find(AdapterFinder.EngineAddress engineAddress) throws TransportException;
}
