package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.CmEvent.Type;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Random;

/**
 * Two ends on one device and what the contract tests do with them. Owns everything made through it,
 * and closes it in reverse.
 */
public final class VerbsRig implements AutoCloseable {
  private static final byte[] NO_DATA = {};
  private final CloseStack opened = new CloseStack();
  private final VerbsProvider provider;
  private final InetAddress address;
  private RigEnd client;
  private RigEnd server;
  private CmId listener;

  VerbsRig(VerbsProvider provider, InetAddress address) {
    this.provider = provider;
    this.address = address;
  }

  public VerbsProvider provider() {
    return provider;
  }

  public InetAddress address() {
    return address;
  }

  /** Closes {@code part} with the rig, unless the test did. */
  public <T extends AutoCloseable> T own(T part) {
    return opened.push(part);
  }

  /** What the device under test does its own way. */
  public DeviceTraits traits() throws VerbsException {
    return DeviceTraits.of(client().device());
  }

  /** The end that connects and READs. */
  public RigEnd client() throws VerbsException {
    if (client == null) {
      client = RigEnd.open(this);
    }
    return client;
  }

  /** The end that listens and is READ. */
  public RigEnd server() throws VerbsException {
    if (server == null) {
      server = RigEnd.open(this);
    }
    return server;
  }

  /** Where {@link #server} listens, from the first call on. */
  public InetSocketAddress serverAddress() throws VerbsException {
    return listener().localAddress();
  }

  public CmId listener() throws VerbsException {
    if (listener == null) {
      listener = own(server().cm().listen(0, 16));
    }
    return listener;
  }

  /** A new id of the client that has its route to {@code peer}. */
  public CmId routed(InetSocketAddress peer) throws VerbsException {
    CmId id = own(client().cm().createId());
    id.resolveAddress(peer, RigEnd.PATIENCE_NS);
    client().expect(id, Type.ADDR_RESOLVED);
    id.resolveRoute(RigEnd.PATIENCE_NS);
    client().expect(id, Type.ROUTE_RESOLVED);
    return id;
  }

  /** As {@link #routed}, with a queue pair. */
  public RigEnd.Port readyToConnect(InetSocketAddress peer) throws VerbsException {
    CmId id = routed(peer);
    return new RigEnd.Port(client(), id, client().queuePair(id));
  }

  /** The server's next request. */
  public CmEvent request() throws VerbsException {
    CmEvent event = server().nextEvent();
    assertThat(event.type()).isEqualTo(Type.CONNECT_REQUEST);
    own(event.id());
    return event;
  }

  /** A connection whose server side lets itself be READ. */
  public RigPair connect() throws VerbsException {
    RigPair pair = connectWithoutRights();
    pair.server().queuePair().allowRemoteReads(true);
    return pair;
  }

  /** A connection as it is when both ends have seen ESTABLISHED. */
  public RigPair connectWithoutRights() throws VerbsException {
    RigEnd.Port active = readyToConnect(serverAddress());
    active.id().connect(NO_DATA);
    CmId accepted = request().id();
    RigEnd.Port passive = new RigEnd.Port(server(), accepted, server().queuePair(accepted));
    accepted.accept(NO_DATA);
    client().expect(active.id(), Type.ESTABLISHED);
    server().expect(accepted, Type.ESTABLISHED);
    return new RigPair(active, passive);
  }

  /** Registered memory of {@code end} with reproducible random content. */
  public RigMemory memory(RigEnd end, int bytes, Access access) throws VerbsException {
    return memory(end.domain(), bytes, access);
  }

  public RigMemory memory(ProtectionDomain domain, int bytes, Access access) throws VerbsException {
    Mapping mapping = own(provider.hostMemory().allocate(bytes));
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    mapping.view(0, bytes).put(content);
    return new RigMemory(mapping, own(domain.register(mapping.address(), bytes, access)));
  }

  /** Memory that READs of the client may fill. */
  public RigMemory sink(int bytes) throws VerbsException {
    RigMemory sink =
        memory(
            client(), bytes, traits().iwarp() ? Access.LOCAL_AND_REMOTE_WRITE : Access.LOCAL_WRITE);
    sink.fill((byte) 0);
    return sink;
  }

  /** Memory that the server exports. */
  public RigMemory source(int bytes) throws VerbsException {
    return memory(server(), bytes, Access.REMOTE_READ);
  }

  @Override
  public void close() {
    opened.close();
  }
}
