package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.TransportException;
import java.util.concurrent.CompletableFuture;

/** Who may connect to the transport: as {@link OwnerTransport} has it. */
interface Tenants {
  /** As {@link OwnerTransport#admit}. */
  boolean admit(long credentialId, byte[] secret) throws TransportException;

  /** As {@link OwnerTransport#withdraw}. */
  CompletableFuture<Void> withdraw(long credentialId);
}
