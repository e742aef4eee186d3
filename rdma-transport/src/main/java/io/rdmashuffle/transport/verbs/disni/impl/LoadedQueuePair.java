package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.impl.NatIbvQP;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;

/**
 * The queue pair of one id.
 *
 * <p><b>Rights:</b> made without any. While a connection is made, librdmacm gives it those of the
 * kernel's connection manager, remote READ among them, for an instant: on the passive side inside
 * {@link LoadedCmId#accept}, on the active side inside the await that brings ESTABLISHED. Both take
 * them back before they return. From then on {@link #allowRemoteReads} alone decides; it must be
 * called after those.
 */
final class LoadedQueuePair implements QueuePair {
  /** Prepared chains are 1, 2, 4, 8 and 16 long; others go out as several. */
  private static final int LONGEST_LOG2 = 4;

  private final NativeDispatcher natives;
  private final LoadedCmId id;
  private final long handle;
  private final int number;
  private final IbvQP queuePair;
  private final PreparedReceive receive = new PreparedReceive();
  private final PreparedSends send;
  private final PreparedSends[] reads = new PreparedSends[LONGEST_LOG2 + 1];

  LoadedQueuePair(NativeDispatcher natives, LoadedCmId id, long handle) throws IOException {
    this.natives = natives;
    this.id = id;
    this.handle = handle;
    number = natives._getQpNum(handle);
    queuePair = new NatIbvQP(handle, natives);
    send = PreparedSends.send(queuePair);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public void postReceive(long wrId, long address, int bytes, int lkey) throws VerbsException {
    try {
      receive.set(wrId, address, bytes, lkey).post(natives, handle);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void postSend(long wrId, long address, int bytes, int lkey) throws VerbsException {
    try {
      send.post(wrId, address, bytes, lkey);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** The largest prepared chain that fits goes first, so few calls serve any length. */
  @Override
  public void postReads(ReadChain chain) throws VerbsException {
    try {
      for (int first = 0; first < chain.size(); ) {
        int left = chain.size() - first;
        int log2 = Math.min(31 - Integer.numberOfLeadingZeros(left), LONGEST_LOG2);
        prepared(log2).post(chain, first);
        first += 1 << log2;
      }
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private PreparedSends prepared(int log2) throws IOException {
    PreparedSends prepared = reads[log2];
    if (prepared == null) {
      prepared = PreparedSends.reads(queuePair, 1 << log2);
      reads[log2] = prepared;
    }
    return prepared;
  }

  @Override
  public void allowRemoteReads(boolean allowed) throws VerbsException {
    try {
      NativeExtras.allowRemoteReads(handle, allowed);
    } catch (NativeFailure e) {
      throw failed(e);
    }
  }

  /**
   * Ends the connection as well: an InfiniBand peer learns nothing from a queue pair in the error
   * state until it sends.
   */
  @Override
  public void toError() throws VerbsException {
    try {
      NativeExtras.moveToError(handle);
    } catch (NativeFailure e) {
      throw failed(e);
    }
    id.disconnect();
  }

  @Override
  public void close() {
    id.destroyQueuePair();
  }

  private VerbsException failed(IOException e) {
    return Failures.of(e, "on qp 0x" + Integer.toHexString(number) + " " + id.describe());
  }
}
