package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.util.MemoryUtils;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory that native code reads or fills while this object is reachable, in native byte order.
 *
 * @param address of its first byte
 */
record NativeBuffer(ByteBuffer bytes, long address) {
  static NativeBuffer allocate(int size) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
    return new NativeBuffer(bytes, MemoryUtils.getAddress(bytes));
  }
}
