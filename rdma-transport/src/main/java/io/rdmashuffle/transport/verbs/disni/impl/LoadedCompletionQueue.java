package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCReqNotify;
import com.ibm.disni.verbs.impl.NatIbvCQ;
import com.ibm.disni.verbs.impl.NatIbvCompChannel;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One ibv_cq with its ibv_comp_channel. Completions are decoded here: DiSNI's own call reads qp_num
 * only of successes.
 */
final class LoadedCompletionQueue implements CompletionQueue {
  private static final int BATCH_ENTRIES = 64;

  private final NativeDispatcher natives;
  private final String device;
  private final long channel;
  private final long handle;
  private final SVCReqNotify notify;
  private final NativeBuffer batch = NativeBuffer.allocate(BATCH_ENTRIES * Layout.WC_BYTES);
  private volatile boolean closed;

  private LoadedCompletionQueue(
      NativeDispatcher natives, String device, NatIbvCompChannel channel, NatIbvCQ queue)
      throws IOException {
    this.natives = natives;
    this.device = device;
    this.channel = channel.getObjId();
    handle = queue.getObjId();
    notify = queue.reqNotification(false);
  }

  static LoadedCompletionQueue create(LoadedDevice device, IbvContext context, int entries)
      throws VerbsException {
    RdmaVerbs verbs = device.disni().verbs();
    NativeDispatcher natives = device.disni().natives();
    long channelHandle = -1;
    try {
      IbvCompChannel channel = verbs.createCompChannel(context);
      channelHandle = ((NatIbvCompChannel) channel).getObjId();
      NatIbvCQ queue = (NatIbvCQ) verbs.createCQ(context, channel, entries, 0);
      channelHandle = -1;
      return new LoadedCompletionQueue(natives, device.name(), (NatIbvCompChannel) channel, queue);
    } catch (IOException e) {
      throw Failures.of(
          e,
          "of "
              + entries
              + " entries on "
              + device.name()
              + " (at most "
              + device.attributes().maxCqe()
              + ")");
    } finally {
      if (channelHandle >= 0) {
        natives._destroyCompChannel(channelHandle);
      }
    }
  }

  long handle() {
    return handle;
  }

  @Override
  public int poll(WorkCompletions into) throws VerbsException {
    into.clear();
    int wanted;
    int taken;
    do {
      wanted = Math.min(into.capacity() - into.size(), BATCH_ENTRIES);
      taken = wanted == 0 ? 0 : pollBatch(wanted);
      for (int i = 0; i < taken; i++) {
        decode(i * Layout.WC_BYTES, into);
      }
    } while (taken == BATCH_ENTRIES);
    return into.size();
  }

  private int pollBatch(int entries) throws VerbsException {
    try {
      int taken = natives._pollCQ(handle, entries, batch.address());
      if (taken >= 0) {
        return taken;
      }
    } catch (IOException e) {
      throw Failures.of(e, "on " + device);
    }
    throw new VerbsException(
        Kind.BUG, "ibv_poll_cq on " + device + ": the completion queue overflowed", 0);
  }

  private void decode(int at, WorkCompletions into) {
    ByteBuffer wc = batch.bytes();
    long wrId = wc.getLong(at + Layout.WC_WR_ID);
    int status = wc.getInt(at + Layout.WC_STATUS);
    int qpNumber = wc.getInt(at + Layout.WC_QP_NUMBER);
    if (status != WcStatus.SUCCESS.ordinal()) {
      into.addFailure(wrId, WcStatus.of(status), qpNumber, wc.getInt(at + Layout.WC_VENDOR_ERROR));
    } else if ((wc.getInt(at + Layout.WC_OPCODE) & Opcodes.WC_RECEIVE) != 0) {
      into.addSuccess(wrId, qpNumber, wc.getInt(at + Layout.WC_BYTE_LENGTH));
    } else {
      into.addSuccess(wrId, qpNumber, 0);
    }
  }

  @Override
  public void arm() throws VerbsException {
    try {
      notify.execute();
    } catch (IOException e) {
      throw Failures.of(e, "on " + device);
    }
  }

  @Override
  public void await(long timeoutNs) throws VerbsException {
    try {
      NativeExtras.awaitCompletion(channel, timeoutNs);
    } catch (NativeFailure e) {
      throw Failures.of(e, "on " + device);
    }
  }

  @Override
  public void wakeUp() {
    NativeExtras.wakeCompletionChannel(channel);
  }

  /**
   * Idempotent. Ends an await of another thread.
   *
   * @throws IllegalStateException if queue pairs use it: it stays open then
   */
  @Override
  public synchronized void close() { // rare, and must not release twice
    if (closed) {
      return;
    }
    Failures.checkClosed(natives._destroyCQ(handle), "ibv_destroy_cq", "on " + device);
    closed = true;
    Failures.checkClosed(
        natives._destroyCompChannel(channel), "ibv_destroy_comp_channel", "on " + device);
  }
}
