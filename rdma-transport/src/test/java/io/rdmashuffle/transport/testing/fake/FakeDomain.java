package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;

/** A protection domain; refuses registrations as the kernel and an adapter would. */
final class FakeDomain extends Tracked implements ProtectionDomain {
  final FakeDevice device;
  private int children;

  FakeDomain(FakeDevice device) {
    super(device.fabric, Resource.DOMAIN);
    this.device = device;
    device.addChild();
  }

  @Override
  public MemoryRegion register(long address, long bytes, Access access) throws VerbsException {
    synchronized (fabric) {
      String call = "ibv_reg_mr of " + bytes + " bytes, " + access;
      requireOpen(call);
      long limit = device.attributes().maxMrBytes();
      if (bytes <= 0 || bytes > limit) {
        throw failure(Kind.CONFIG, call + " of at most " + limit, Errno.EINVAL);
      }
      FakeMapping mapping = device.memory.find(address, bytes);
      Errno fault = fabric.faults().onRegister();
      if (fault != null) {
        throw failure(fault == Errno.ENOMEM ? Kind.RETRY : Kind.CONFIG, call, fault);
      }
      if (mapping == null || !mapping.canBeRegistered(access)) {
        throw failure(Kind.CONFIG, call, Errno.EFAULT);
      }
      if (!device.memory.tryPin(bytes)) {
        throw failure(Kind.RETRY, call + " over the memlock limit", Errno.ENOMEM);
      }
      if (!device.adapter.addRegion()) {
        device.memory.unpin(bytes);
        throw failure(Kind.RETRY, call + " over the adapter's regions", Errno.ENOMEM);
      }
      mapping.onPinned();
      return new FakeRegion(this, mapping, new FakeRegion.Range(address, bytes), access);
    }
  }

  void addChild() {
    children++;
  }

  void removeChild() {
    children--;
  }

  @Override
  void release() {
    forbid(children != 0, "closed before " + children + " regions and queue pairs of it");
    device.removeChild();
  }
}
