package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Reads some blocks of a batch, each file opened once. A failure costs the blocks it concerns. */
final class CopyJob implements SlowLanes.Job {
  private final CopyBatch batch;
  private final List<BlockCopy> copies;
  private final HostMemory host;
  private final Reports reports;

  /**
   * @param copies ordered by file
   */
  CopyJob(CopyBatch batch, List<BlockCopy> copies, ServerParts parts) {
    this.batch = batch;
    this.copies = copies;
    this.host = parts.hostMemory();
    this.reports = parts.reports();
  }

  /** It is about to be submitted. */
  void begin() {
    for (int i = 0; i < copies.size(); i++) {
      copies.get(i).entry().beginBusy();
    }
  }

  @Override
  public void run() {
    int from = 0;
    while (from < copies.size() && !batch.isAbandoned()) {
      int to = from + 1;
      while (to < copies.size() && copies.get(to).entry() == copies.get(from).entry()) {
        to++;
      }
      readFile(copies.get(from).entry(), copies.subList(from, to));
      from = to;
    }
  }

  private void readFile(FileEntry entry, List<BlockCopy> blocks) {
    try (HeldFile held = entry.file().placed().hold(host);
        FileChannel file = FileChannel.open(held.path(), StandardOpenOption.READ)) {
      entry.confirm(held.path()); // after opening: it is what was looked at, or it is refused
      for (BlockCopy block : blocks) {
        block.read(file, batch.memory());
      }
    } catch (NotServedException e) {
      refuseRest(entry, blocks, e.reason(), e);
    } catch (IOException | RuntimeException e) {
      refuseRest(entry, blocks, FallbackReason.FILE_CHANGED, e);
    }
  }

  private void refuseRest(
      FileEntry entry, List<BlockCopy> blocks, FallbackReason reason, Exception cause) {
    reports.fileFailed(entry.file(), reason, cause);
    for (BlockCopy block : blocks) {
      if (block.answer() == null) {
        block.refuse(reason);
      }
    }
  }

  @Override
  public void onDone(Throwable failure) {
    try {
      for (int i = 0; i < copies.size(); i++) {
        copies.get(i).entry().endBusy();
      }
      for (int i = 0; i < copies.size(); i++) {
        copies.get(i).entry().runIfQuiet(); // may fail: by then all are counted
      }
    } finally {
      batch.onJobDone(failure);
    }
  }
}
