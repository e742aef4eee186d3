package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmEvent.Type;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One rdma_event_channel and its ids by handle. */
final class LoadedCmChannel implements CmChannel {
  private static final Type[] TYPES = Type.values();

  private final LoadedDevice device;
  private final NativeDispatcher natives;
  private final long handle;
  private final Map<Long, LoadedCmId> ids = new ConcurrentHashMap<>();
  private final EventBuffer event = new EventBuffer();
  private volatile boolean closed;

  private LoadedCmChannel(LoadedDevice device, long handle) {
    this.device = device;
    this.natives = device.disni().natives();
    this.handle = handle;
  }

  static LoadedCmChannel open(LoadedDevice device) throws VerbsException {
    try {
      return new LoadedCmChannel(device, device.disni().natives()._createEventChannel());
    } catch (IOException e) {
      throw Failures.of(e, "for " + device.name());
    }
  }

  @Override
  public CmId createId() throws VerbsException {
    return newId();
  }

  private LoadedCmId newId() throws VerbsException {
    try {
      return adopt(natives._createId(handle, RdmaCm.RDMA_PS_TCP));
    } catch (IOException e) {
      throw Failures.of(e, "for " + device.name());
    }
  }

  private LoadedCmId adopt(long idHandle) {
    boolean known = false;
    try {
      LoadedCmId id = new LoadedCmId(device, this, idHandle);
      ids.put(idHandle, id);
      known = true;
      return id;
    } finally {
      if (!known) {
        natives._destroyCmId(idHandle);
      }
    }
  }

  @Override
  public CmId listen(int port, int backlog) throws VerbsException {
    LoadedCmId id = newId();
    try {
      id.listen(port, backlog);
      return id;
    } catch (VerbsException e) {
      id.close();
      throw e;
    }
  }

  /** Also null for an event of an id that was closed meanwhile. */
  @Override
  public CmEvent await(long timeoutNs) throws VerbsException {
    int type;
    try {
      type = NativeExtras.nextEvent(handle, timeoutNs, event.pointer());
    } catch (NativeFailure e) {
      throw Failures.of(e, "of " + device.name());
    }
    if (type < 0 || type >= TYPES.length) {
      return null;
    }
    if (TYPES[type] == Type.CONNECT_REQUEST) {
      return connectRequest(adopt(event.id()));
    }
    LoadedCmId id = ids.get(event.id());
    return id == null ? null : toEvent(TYPES[type], id);
  }

  /** The id is nobody's before the event is made. */
  private CmEvent connectRequest(LoadedCmId id) {
    CmEvent request = null;
    try {
      request = toEvent(Type.CONNECT_REQUEST, id);
      return request;
    } finally {
      if (request == null) {
        id.close();
      }
    }
  }

  private CmEvent toEvent(Type type, LoadedCmId id) {
    return new CmEvent(type, id, event.status(), event.privateData());
  }

  @Override
  public void wakeUp() {
    NativeExtras.wakeEventChannel(handle);
  }

  /** No event names the id from here on. */
  void forget(long idHandle) {
    ids.remove(idHandle);
  }

  /**
   * Idempotent. Ends an await of another thread.
   *
   * @throws IllegalStateException if ids of it are open: it stays open then
   */
  @Override
  public synchronized void close() { // rare, and must not release twice
    if (closed) {
      return;
    }
    Failures.checkClosed(
        natives._destroyEventChannel(handle), "rdma_destroy_event_channel", "of " + device.name());
    closed = true;
  }
}
