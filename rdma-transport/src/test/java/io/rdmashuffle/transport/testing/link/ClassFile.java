package io.rdmashuffle.transport.testing.link;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of a class file that linking looks at (Java Virtual Machine Specification, chapter 4).
 * Read rather than loaded: loading would need everything the class mentions.
 *
 * @param access flags
 * @param superName null for java.lang.Object
 * @param methods access flags by name and descriptor
 * @param fields access flags by name and descriptor
 * @param references to members of this and other classes
 * @param classes named anywhere in the constant pool
 */
public record ClassFile(
    String name,
    int access,
    String superName,
    List<String> interfaces,
    Map<String, Integer> methods,
    Map<String, Integer> fields,
    List<Reference> references,
    List<String> classes) {
  static final int PRIVATE = 0x2;
  static final int STATIC = 0x8;
  static final int FINAL = 0x10;
  static final int INTERFACE = 0x200;
  static final int ABSTRACT = 0x400;

  /** A member that the class uses; the kind is the tag in the constant pool. */
  public record Reference(int kind, String owner, String member) {
    static final int FIELD = 9;
    static final int METHOD = 10;
    static final int INTERFACE_METHOD = 11;

    @Override
    public String toString() {
      return owner + "." + member;
    }
  }

  boolean is(int flag) {
    return (access & flag) != 0;
  }

  static ClassFile read(InputStream stream) throws IOException {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(stream))) {
      in.skipNBytes(8); // magic and version
      Pool pool = Pool.read(in);
      int access = in.readUnsignedShort();
      String name = pool.className(in.readUnsignedShort());
      String superName = pool.className(in.readUnsignedShort());
      List<String> interfaces = new ArrayList<>();
      for (int n = in.readUnsignedShort(); n > 0; n--) {
        interfaces.add(pool.className(in.readUnsignedShort()));
      }
      Map<String, Integer> fields = members(in, pool);
      Map<String, Integer> methods = members(in, pool);
      return new ClassFile(
          name, access, superName, interfaces, methods, fields, pool.references(), pool.classes());
    }
  }

  private static Map<String, Integer> members(DataInputStream in, Pool pool) throws IOException {
    Map<String, Integer> members = new HashMap<>();
    for (int n = in.readUnsignedShort(); n > 0; n--) {
      int access = in.readUnsignedShort();
      String name = pool.text(in.readUnsignedShort());
      members.put(name + pool.text(in.readUnsignedShort()), access);
      for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
        in.skipNBytes(2);
        in.skipNBytes(Integer.toUnsignedLong(in.readInt()));
      }
    }
    return members;
  }

  /** The constant pool: per entry its tag, and its text or the indices it holds. */
  private record Pool(int[] tags, String[] texts, int[][] indices) {
    private static final int CLASS = 7;

    static Pool read(DataInputStream in) throws IOException {
      int count = in.readUnsignedShort();
      Pool pool = new Pool(new int[count], new String[count], new int[count][]);
      for (int i = 1; i < count; i++) {
        int tag = in.readUnsignedByte();
        pool.tags[i] = tag;
        switch (tag) {
          case 1 -> pool.texts[i] = in.readUTF();
          case 3, 4 -> in.skipNBytes(4);
          case 5, 6 -> {
            in.skipNBytes(8);
            i++; // these take two entries
          }
          case 7, 8, 16, 19, 20 -> pool.indices[i] = new int[] {in.readUnsignedShort()};
          case 9, 10, 11, 12, 17, 18 ->
              pool.indices[i] = new int[] {in.readUnsignedShort(), in.readUnsignedShort()};
          case 15 -> in.skipNBytes(3);
          default -> throw new IOException("constant pool tag " + tag);
        }
      }
      return pool;
    }

    String text(int index) {
      return texts[index];
    }

    String className(int index) {
      return index == 0 ? null : texts[indices[index][0]];
    }

    List<Reference> references() {
      List<Reference> references = new ArrayList<>();
      for (int i = 1; i < tags.length; i++) {
        if (tags[i] >= Reference.FIELD && tags[i] <= Reference.INTERFACE_METHOD) {
          int[] nameAndType = indices[indices[i][1]];
          references.add(
              new Reference(
                  tags[i], className(indices[i][0]), text(nameAndType[0]) + text(nameAndType[1])));
        }
      }
      return references;
    }

    List<String> classes() {
      List<String> classes = new ArrayList<>();
      for (int i = 1; i < tags.length; i++) {
        if (tags[i] == CLASS && !className(i).startsWith("[")) {
          classes.add(className(i));
        }
      }
      return classes;
    }
  }
}
