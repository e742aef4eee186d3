package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCPostSend.RdmaMod;
import com.ibm.disni.verbs.SVCPostSend.SendWRMod;
import com.ibm.disni.verbs.SVCPostSend.SgeMod;
import io.rdmashuffle.transport.verbs.ReadChain;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;

/**
 * A chain of requests of one length and kind, laid out once and posted again and again with other
 * numbers. One thread.
 *
 * <p>Its memory goes with the garbage, not back to DiSNI's pool: a post that raced with a close
 * could otherwise hand a buffer of somebody else's to the adapter.
 */
final class PreparedSends {
  private final SVCPostSend call;
  private final SendWRMod[] requests;
  private final RdmaMod[] remotes;
  private final SgeMod[] locals;

  private PreparedSends(IbvQP queuePair, int length, int opcode) throws IOException {
    List<IbvSendWR> chain = new LinkedList<>();
    for (int i = 0; i < length; i++) {
      IbvSendWR request = new IbvSendWR();
      request.setOpcode(opcode);
      request.setSg_list(new LinkedList<>(List.of(new IbvSge())));
      request.setNum_sge(1);
      chain.add(request);
    }
    call = queuePair.postSend(chain, null);
    requests = new SendWRMod[length];
    remotes = new RdmaMod[length];
    locals = new SgeMod[length];
    for (int i = 0; i < length; i++) {
      requests[i] = call.getWrMod(i);
      remotes[i] = requests[i].getRdmaMod();
      locals[i] = requests[i].getSgeMod(0);
    }
  }

  static PreparedSends reads(IbvQP queuePair, int length) throws IOException {
    return new PreparedSends(queuePair, length, IbvSendWR.IBV_WR_RDMA_READ);
  }

  /** One signalled SEND. */
  static PreparedSends send(IbvQP queuePair) throws IOException {
    PreparedSends send = new PreparedSends(queuePair, 1, IbvSendWR.IBV_WR_SEND);
    send.requests[0].setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
    return send;
  }

  void post(long wrId, long address, int bytes, int lkey) throws IOException {
    requests[0].setWr_id(wrId);
    setLocal(0, address, bytes, lkey);
    call.execute();
  }

  /** Posts the READs from {@code first} on, as many as this chain is long. */
  void post(ReadChain reads, int first) throws IOException {
    for (int i = 0; i < requests.length; i++) {
      int from = first + i;
      requests[i].setWr_id(reads.wrId(from));
      remotes[i].setRemote_addr(reads.remoteAddress(from));
      remotes[i].setRkey(reads.rkey(from));
      setLocal(i, reads.localAddress(from), reads.bytes(from), reads.lkey(from));
    }
    boolean last = first + requests.length == reads.size();
    requests[requests.length - 1].setSend_flags(last ? IbvSendWR.IBV_SEND_SIGNALED : 0);
    call.execute();
  }

  private void setLocal(int i, long address, int bytes, int lkey) {
    locals[i].setAddr(address);
    locals[i].setLength(bytes);
    locals[i].setLkey(lkey);
  }
}
