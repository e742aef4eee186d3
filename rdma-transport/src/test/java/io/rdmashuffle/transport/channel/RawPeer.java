package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireCodec;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A peer that keeps no rule: it sends what the test says, over bare verbs, to see what the other
 * side makes of it. Receives are posted in plenty.
 */
final class RawPeer implements AutoCloseable {
  private static final int SLOT_BYTES = 16 << 10;
  private static final int RECEIVES = 64;
  private static final int SEND_ID = 1000;
  private static final int READ_ID = 2000;

  final WireCodec codec = new WireCodec();
  final List<byte[]> received = new ArrayList<>();
  final List<CmEvent> events = new ArrayList<>();
  final List<WcStatus> reads = new ArrayList<>();
  private final Network net;
  private final RawAdapter adapter;
  private CmId id;
  private QueuePair qp;

  RawPeer(Network net) throws TransportException {
    this.net = net;
    adapter = new RawAdapter(net.fabric, (RECEIVES + 1) * SLOT_BYTES);
  }

  // ---- as a reader

  /** Sends a connect request. What becomes of it is in {@link #events}. */
  RawPeer connect(Node owner, byte[] privateData) throws TransportException {
    InetSocketAddress address = owner.target(0, Network.SECRET).address();
    id = adapter.parts.push(adapter.channel.createId());
    id.resolveAddress(address, 1_000_000_000);
    look();
    id.resolveRoute(1_000_000_000);
    look();
    createQueuePair();
    id.connect(privateData);
    look();
    return this;
  }

  /** Knocks with a right code, and fails the test if it is not let in. */
  RawPeer connect(Node owner, long credentialId) throws TransportException {
    byte[] nonce = Messages.nonce(credentialId);
    connect(owner, ConnectRequest.create(new Hmac(), credentialId, Network.SECRET, nonce).encode());
    if (lastEvent().type() != CmEvent.Type.ESTABLISHED) {
      throw new AssertionError(events.toString());
    }
    return this;
  }

  // ---- as an owner

  InetSocketAddress listen() throws TransportException {
    return adapter.parts.push(adapter.channel.listen(0, 8)).localAddress();
  }

  /** Takes whoever knocks. */
  void accept() throws TransportException {
    look();
    id = adapter.parts.push(lastEvent().id());
    createQueuePair();
    id.accept(ConnectAnswer.accepting(17).encode());
    look();
  }

  // ---- both

  private void createQueuePair() throws TransportException {
    qp = id.createQueuePair(adapter.domain, adapter.queue, new QueuePairCapacity(256, RECEIVES));
    for (int i = 0; i < RECEIVES; i++) {
      postReceive(i);
    }
  }

  private void postReceive(int slot) throws TransportException {
    qp.postReceive(
        slot,
        adapter.memory.address() + (long) slot * SLOT_BYTES,
        SLOT_BYTES,
        adapter.region.lkey());
  }

  CmEvent lastEvent() {
    return events.get(events.size() - 1);
  }

  void send(byte[] frame) throws TransportException {
    ByteBuffer out = adapter.memory.view((long) RECEIVES * SLOT_BYTES, SLOT_BYTES);
    out.put(frame);
    qp.postSend(
        SEND_ID,
        adapter.memory.address() + (long) RECEIVES * SLOT_BYTES,
        frame.length,
        adapter.region.lkey());
    look();
  }

  void send(int requestId, Request request) throws TransportException {
    send(Messages.frame(requestId, request));
  }

  void send(int requestId, Reply reply) throws TransportException {
    ByteBuffer frame = ByteBuffer.allocate(SLOT_BYTES);
    byte[] bytes = new byte[codec.encode(requestId, reply, frame)];
    frame.flip().get(bytes);
    send(bytes);
  }

  /** READs into memory that receives use: the test does not look at the bytes. */
  WcStatus read(long address, int rkey, int bytes) throws TransportException {
    ReadChain chain = new ReadChain(1);
    chain.add(bytes).from(address, rkey).into(adapter.memory.address(), adapter.region.lkey());
    chain.stamp(0, READ_ID);
    qp.postReads(chain);
    look();
    return reads.get(reads.size() - 1);
  }

  Reply lastReply() throws TransportException {
    return codec.decodeReply(ByteBuffer.wrap(received.get(received.size() - 1)));
  }

  Request lastRequest() throws TransportException {
    return codec.decodeRequest(ByteBuffer.wrap(received.get(received.size() - 1)));
  }

  /** Lets everybody come to rest, then takes what has arrived here. */
  void look() throws TransportException {
    net.settle();
    for (CmEvent e = adapter.channel.await(0); e != null; e = adapter.channel.await(0)) {
      events.add(e);
    }
    WorkCompletions completions = new WorkCompletions(16);
    while (adapter.queue.poll(completions) > 0) {
      for (int i = 0; i < completions.size(); i++) {
        take(completions, i);
      }
    }
    net.settle();
  }

  private void take(WorkCompletions completions, int i) throws TransportException {
    long wrId = completions.wrId(i);
    if (wrId == READ_ID) {
      reads.add(completions.status(i));
    } else if (wrId < RECEIVES && completions.status(i) == WcStatus.SUCCESS) {
      byte[] frame = new byte[completions.bytes(i)];
      adapter.memory.view(wrId * SLOT_BYTES, SLOT_BYTES).get(frame);
      received.add(frame);
      postReceive((int) wrId);
    }
  }

  @Override
  public void close() {
    adapter.close();
  }
}
