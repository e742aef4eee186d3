package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.MemoryRegion;

/** A registered range. */
final class FakeRegion extends Tracked implements MemoryRegion {
  record Range(long address, long bytes) {
    boolean covers(long otherAddress, long otherBytes) {
      return otherAddress >= address
          && otherBytes <= bytes
          && otherAddress - address <= bytes - otherBytes;
    }
  }

  final FakeDomain domain;
  final FakeMapping mapping;
  private final Range range;
  private final Access access;
  private final int lkey;
  private final int rkey;

  FakeRegion(FakeDomain domain, FakeMapping mapping, Range range, Access access) {
    super(domain.fabric, Resource.REGION);
    this.domain = domain;
    this.mapping = mapping;
    this.range = range;
    this.access = access;
    this.lkey = fabric.newKey(this);
    this.rkey = fabric.newKey(this);
    domain.addChild();
    mapping.addRegion();
  }

  @Override
  public long address() {
    return range.address();
  }

  @Override
  public long bytes() {
    return range.bytes();
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  boolean covers(long address, long bytes) {
    return range.covers(address, bytes);
  }

  boolean allowsRemoteRead() {
    return access == Access.REMOTE_READ;
  }

  boolean allowsReceive() {
    return access == Access.LOCAL_WRITE || access == Access.LOCAL_AND_REMOTE_WRITE;
  }

  /** The rule for sinks of a READ on iWARP (RFC 5040, section 5.2). */
  boolean allowsReadSink(boolean iwarp) {
    return iwarp ? access == Access.LOCAL_AND_REMOTE_WRITE : allowsReceive();
  }

  @Override
  void release() {
    fabric.dropKey(lkey);
    fabric.dropKey(rkey);
    mapping.removeRegion();
    domain.device.memory.unpin(range.bytes());
    domain.device.adapter.removeRegion();
    domain.removeChild();
  }
}
