package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ElfMachineTest {
  @Test
  void machineIsReadInTheFilesByteOrder() {
    assertThat(ElfMachine.of(elf(1, 62, 0))).isEqualTo("x86_64");
    assertThat(ElfMachine.of(elf(1, 183, 0))).isEqualTo("aarch64");
    assertThat(ElfMachine.of(elf(2, 0, 22))).isEqualTo("ELF machine 22"); // s390x
  }

  @Test
  void whatIsNoElfFileIsSaidSo() {
    assertThat(ElfMachine.of(new byte[0])).contains("not an ELF file");
    assertThat(ElfMachine.of(new byte[64])).contains("not an ELF file");
    assertThat(ElfMachine.of(new byte[] {0x7f, 'E', 'L', 'F'})).contains("not an ELF file");
  }

  static byte[] elf(int order, int first, int second) {
    byte[] file = new byte[64];
    file[0] = 0x7f;
    file[1] = 'E';
    file[2] = 'L';
    file[3] = 'F';
    file[5] = (byte) order;
    file[18] = (byte) first;
    file[19] = (byte) second;
    return file;
  }
}
