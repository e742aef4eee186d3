package io.rdmashuffle.transport.verbs.disni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads for which machine an ELF file was built: elf(5). */
final class ElfMachine {
  private static final int MAGIC = 0x7f454c46; // 0x7f "ELF"
  private static final int DATA_AT = 5;
  private static final int MACHINE_AT = 18;

  private ElfMachine() {}

  /** As uname(2) names it, or a description of what the file is instead. */
  static String of(byte[] file) {
    if (file.length < MACHINE_AT + 2 || ByteBuffer.wrap(file).getInt() != MAGIC) {
      return "no machine: it is not an ELF file";
    }
    boolean little = file[DATA_AT] == 1;
    short machine =
        ByteBuffer.wrap(file)
            .order(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
            .getShort(MACHINE_AT);
    return switch (machine) {
      case 62 -> "x86_64";
      case 183 -> "aarch64";
      default -> "ELF machine " + machine;
    };
  }
}
