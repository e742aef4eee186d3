package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

/**
 * Part of a file. Bytes behind its end read as zero, as in mmap(2); a view that reaches there is a
 * snapshot, because Java maps no further than the file.
 */
final class FileMapping extends FakeMapping {
  record Source(Path path, FileChannel channel, long offsetBytes, MapMode mode) {}

  private final Source source;
  private final ByteBuffer content;

  FileMapping(FakeHostMemory memory, FakeRegion.Range range, Source source, ByteBuffer content) {
    super(memory, range);
    this.source = source;
    this.content = content;
  }

  /** What of the range exists in the file. */
  static ByteBuffer map(Source source, long bytes) throws IOException {
    FileChannel.MapMode mode =
        source.mode == MapMode.READ_ONLY
            ? FileChannel.MapMode.READ_ONLY
            : FileChannel.MapMode.READ_WRITE;
    long present = Math.min(bytes, source.channel.size() - source.offsetBytes);
    return source.channel.map(mode, source.offsetBytes, present);
  }

  /** Current kernels pin no file pages for writing; which mode may be pinned is a fault to set. */
  @Override
  boolean canBeRegistered(Access access) {
    boolean readOnly = access == Access.REMOTE_READ || access == Access.LOCAL_READ;
    return readOnly && !fabric.faults().refusesFile(source.path, source.mode);
  }

  /** As ext4 and xfs do, where a kernel wants mappings writable. */
  @Override
  void onPinned() {
    if (source.mode == MapMode.READ_WRITE) {
      try {
        FileTime later = Files.getLastModifiedTime(source.path);
        Files.setLastModifiedTime(
            source.path, FileTime.from(later.toInstant().plusMillis(4))); // a tick
      } catch (NoSuchFileException unlinked) {
        return;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  ByteBuffer content() {
    return content;
  }

  /** False once the file has been truncated into the range: Java would fault. */
  @Override
  boolean isIntact(long offset, int bytes) {
    try {
      long end = Math.min(offset + bytes, content.capacity());
      return source.offsetBytes + end <= source.channel.size();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  ByteBuffer viewOf(int offset, int bytes) {
    if (offset + bytes <= content.capacity()) {
      return content.slice(offset, bytes).asReadOnlyBuffer();
    }
    ByteBuffer snapshot = ByteBuffer.allocateDirect(bytes);
    int present = Math.max(0, content.capacity() - offset);
    if (present > 0) {
      snapshot.put(0, content, offset, present);
    }
    return snapshot.asReadOnlyBuffer();
  }

  @Override
  void dispose() {
    try {
      source.channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
