package io.rdmashuffle.transport;

/**
 * Why a block does not come by RDMA. Counted per reason, shown to users, never an error by itself:
 * the engine's own shuffle serves the block.
 */
public enum FallbackReason {
  /** RDMA is switched off, or this process has no usable device. */
  NO_DEVICE("no-device"),
  /** The peer answered discovery without RDMA addresses, or not at all. */
  PEER_WITHOUT_RDMA("peer-without-rdma"),
  /** Discovery failed or did not end in time. */
  DISCOVERY_FAILED("discovery-failed"),
  /** A connection could not be made in time. */
  CONNECT_FAILED("connect-failed"),
  /** The peer's or the device's circuit breaker is open after earlier failures. */
  BREAKER_OPEN("breaker-open"),
  /** Too many connections, here or at the peer. */
  CONNECTION_CAP("connection-cap"),
  /** Tasks hold the reader's memory, or no transit memory became free in time. */
  NO_MEMORY("no-memory"),
  /** The request queue is full. */
  OVERLOADED("overloaded"),
  /** The block is larger than all memory the reader may have for blocks. */
  TOO_LARGE("too-large"),
  /** The engine asked for a file instead of memory. */
  TO_DISK("to-disk"),
  /** The owner does not know the block. */
  UNKNOWN_BLOCK("unknown-block"),
  /** The owner's file is gone, shorter than its index says, or changed. */
  FILE_CHANGED("file-changed"),
  /** The owner could neither register nor stage the block. */
  OWNER_NO_MEMORY("owner-no-memory"),
  /** A READ or an answer failed, or its deadline passed. */
  TRANSFER_FAILED("transfer-failed"),
  /** The owner's adapter refused a READ of the block: the owner is alive, its memory is gone. */
  READ_REFUSED("read-refused"),
  /** The engine asked again after it found the block corrupt. */
  CORRUPT_RETRY("corrupt-retry"),
  /** Something RDMA does not carry: merged chunks, fallback storage, old fetch protocol. */
  NOT_SUPPORTED("not-supported"),
  /** The engine encrypts its network and the map outputs are not encrypted. */
  ENCRYPTION("encryption"),
  /** This side is stopping. */
  STOPPING("stopping");

  private final String label;

  FallbackReason(String label) {
    this.label = label;
  }

  /** The name in metrics, logs and reports. */
  public String label() {
    return label;
  }
}
