package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * One struct ibv_recv_wr with its element, posted again and again with other numbers. DiSNI's own
 * call for receives cannot be changed once it is prepared. One thread.
 */
final class PreparedReceive {
  private static final int SGE = Layout.RECV_WR_BYTES;
  private final NativeBuffer request = NativeBuffer.allocate(SGE + Layout.SGE_BYTES);

  PreparedReceive() {
    ByteBuffer bytes = request.bytes();
    bytes.putLong(Layout.RECV_WR_NEXT, 0);
    bytes.putLong(Layout.RECV_WR_SG_LIST, request.address() + SGE);
    bytes.putInt(Layout.RECV_WR_NUM_SGE, 1);
  }

  void post(NativeDispatcher natives, long queuePair) throws IOException {
    natives._postRecv(queuePair, request.address());
    Reference.reachabilityFence(request);
  }

  PreparedReceive set(long wrId, long address, int length, int lkey) {
    ByteBuffer bytes = request.bytes();
    bytes.putLong(Layout.RECV_WR_ID, wrId);
    bytes.putLong(SGE + Layout.SGE_ADDRESS, address);
    bytes.putInt(SGE + Layout.SGE_LENGTH, length);
    bytes.putInt(SGE + Layout.SGE_LKEY, lkey);
    return this;
  }
}
