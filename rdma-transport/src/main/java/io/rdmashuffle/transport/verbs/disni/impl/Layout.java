package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.impl.NatIbvRecvWR;
import com.ibm.disni.verbs.impl.NatIbvSendWR;
import com.ibm.disni.verbs.impl.NatIbvSge;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;

/**
 * Sizes and offsets of the structures of infiniband/verbs.h that this package and DiSNI write and
 * read as raw memory. DiSNI adapts silently to some other sizes; here they refuse to start.
 */
final class Layout {
  static final int RECV_WR_BYTES = 32;
  static final int RECV_WR_ID = 0;
  static final int RECV_WR_NEXT = 8;
  static final int RECV_WR_SG_LIST = 16;
  static final int RECV_WR_NUM_SGE = 24;
  static final int SGE_BYTES = 16;
  static final int SGE_ADDRESS = 0;
  static final int SGE_LENGTH = 8;
  static final int SGE_LKEY = 12;
  static final int WC_BYTES = 48;
  static final int WC_WR_ID = 0;
  static final int WC_STATUS = 8;
  static final int WC_OPCODE = 12;
  static final int WC_VENDOR_ERROR = 16;
  static final int WC_BYTE_LENGTH = 20;
  static final int WC_QP_NUMBER = 28;

  private record Number(String name, int expected) {}

  private Layout() {}

  /** In the order of layout() in rdma_load.c. Ask before DiSNI's own start has adapted. */
  private static Number[] expected() {
    return new Number[] {
      new Number("sizeof ibv_recv_wr", NatIbvRecvWR.CSIZE),
      new Number("sizeof ibv_sge", NatIbvSge.CSIZE),
      new Number("sizeof ibv_wc", IbvWC.CSIZE),
      new Number("ibv_send_wr.wr_id", NatIbvSendWR.WRID_OFFSET),
      new Number("ibv_send_wr.next", 8), // this and the next three: NatIbvSendWR.writeBack
      new Number("ibv_send_wr.sg_list", 16),
      new Number("ibv_send_wr.num_sge", 24),
      new Number("ibv_send_wr.opcode", 28),
      new Number("ibv_send_wr.send_flags", NatIbvSendWR.SENDFLAGS_OFFSET),
      new Number("ibv_send_wr.remote_addr", NatIbvSendWR.REMOTEADDR_OFFSET),
      new Number("ibv_send_wr.rkey", NatIbvSendWR.RKEY_OFFSET),
      new Number("ibv_recv_wr.wr_id", RECV_WR_ID),
      new Number("ibv_recv_wr.next", RECV_WR_NEXT),
      new Number("ibv_recv_wr.sg_list", RECV_WR_SG_LIST),
      new Number("ibv_recv_wr.num_sge", RECV_WR_NUM_SGE),
      new Number("ibv_sge.addr", SGE_ADDRESS),
      new Number("ibv_sge.length", SGE_LENGTH),
      new Number("ibv_sge.lkey", SGE_LKEY),
      new Number("ibv_wc.wr_id", WC_WR_ID),
      new Number("ibv_wc.status", WC_STATUS),
      new Number("ibv_wc.opcode", WC_OPCODE),
      new Number("ibv_wc.vendor_err", WC_VENDOR_ERROR),
      new Number("ibv_wc.byte_len", WC_BYTE_LENGTH),
      new Number("ibv_wc.qp_num", WC_QP_NUMBER),
    };
  }

  /**
   * @param natives what {@link NativeExtras#layout} says
   * @throws VerbsException naming the first number that differs
   */
  static void check(int[] natives) throws VerbsException {
    Number[] expected = expected();
    if (natives.length != expected.length) {
      throw mismatch("count of numbers", natives.length, expected.length);
    }
    for (int i = 0; i < natives.length; i++) {
      if (natives[i] != expected[i].expected()) {
        throw mismatch(expected[i].name(), natives[i], expected[i].expected());
      }
    }
  }

  private static VerbsException mismatch(String what, int is, int expected) {
    return new VerbsException(
        Kind.CONFIG,
        "libdisni.so was built for another layout: "
            + what
            + " is "
            + is
            + ", DiSNI 2.1 and this jar expect "
            + expected,
        0);
  }
}
