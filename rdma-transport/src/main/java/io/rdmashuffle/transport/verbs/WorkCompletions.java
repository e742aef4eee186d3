package io.rdmashuffle.transport.verbs;

/**
 * A reusable batch of work completions. One thread at a time.
 *
 * <p>After a failed completion only wr_id, status, qp_num and vendor_err are valid
 * (ibv_poll_cq(3)).
 */
public final class WorkCompletions {
  private final long[] wrIds;
  private final WcStatus[] statuses;
  private final int[] bytes;
  private final int[] qpNumbers;
  private final int[] vendorErrors;
  private int size;

  public WorkCompletions(int capacity) {
    wrIds = new long[capacity];
    statuses = new WcStatus[capacity];
    bytes = new int[capacity];
    qpNumbers = new int[capacity];
    vendorErrors = new int[capacity];
  }

  public void clear() {
    size = 0;
  }

  /** For implementations of {@link CompletionQueue}. */
  public void addSuccess(long wrId, int qpNumber, int payloadBytes) {
    add(wrId, WcStatus.SUCCESS, qpNumber, 0);
    bytes[size - 1] = payloadBytes;
  }

  /** For implementations of {@link CompletionQueue}. */
  public void addFailure(long wrId, WcStatus status, int qpNumber, int vendorError) {
    add(wrId, status, qpNumber, vendorError);
    bytes[size - 1] = 0;
  }

  private void add(long wrId, WcStatus status, int qpNumber, int vendorError) {
    wrIds[size] = wrId;
    statuses[size] = status;
    qpNumbers[size] = qpNumber;
    vendorErrors[size] = vendorError;
    size++;
  }

  public int size() {
    return size;
  }

  public int capacity() {
    return wrIds.length;
  }

  public long wrId(int i) {
    return wrIds[i];
  }

  public WcStatus status(int i) {
    return statuses[i];
  }

  /** Bytes a receive took; 0 for anything else. */
  public int bytes(int i) {
    return bytes[i];
  }

  public int qpNumber(int i) {
    return qpNumbers[i];
  }

  public int vendorError(int i) {
    return vendorErrors[i];
  }
}
