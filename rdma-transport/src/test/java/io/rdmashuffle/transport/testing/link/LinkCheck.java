package io.rdmashuffle.spark.link;

import io.rdmashuffle.spark.link.ClassFile.Reference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds what would fail to link: members and classes of Spark and Scala that our classes use and
 * that are not there, abstract methods that they inherit and do not implement, final ones that they
 * override.
 */
final class LinkCheck {
  private static final String OURS = "io/rdmashuffle/spark/";

  private final ClassIndex index;
  private final Set<String> problems = new TreeSet<>();

  LinkCheck(ClassIndex index) {
    this.index = index;
  }

  /** One line per problem; empty if the classes link. */
  Set<String> check(Collection<ClassFile> classes) {
    for (ClassFile ours : classes) {
      ours.classes().stream()
          .filter(LinkCheck::engine)
          .filter(name -> index.find(name).isEmpty())
          .forEach(name -> problems.add("no class " + name));
      ours.references().stream()
          .filter(r -> engine(r.owner()) || r.owner().startsWith(OURS))
          .forEach(this::checkReference);
      checkInherited(ours);
    }
    return problems;
  }

  private static boolean engine(String name) {
    return name.startsWith("org/apache/spark/") || name.startsWith("scala/");
  }

  private void checkReference(Reference reference) {
    ClassFile owner = index.find(reference.owner()).orElse(null);
    if (owner == null) {
      return; // reported as a class
    }
    if (reference.kind() != Reference.FIELD
        && owner.is(ClassFile.INTERFACE) != (reference.kind() == Reference.INTERFACE_METHOD)) {
      problems.add("class became interface or the reverse: " + reference);
    }
    boolean constructor = reference.member().startsWith("<init>");
    List<ClassFile> hierarchy = constructor ? List.of(owner) : hierarchy(owner);
    boolean found =
        hierarchy.stream()
            .map(type -> reference.kind() == Reference.FIELD ? type.fields() : type.methods())
            .map(members -> members.get(reference.member()))
            .anyMatch(
                access ->
                    access != null
                        && ((access & ClassFile.PRIVATE) == 0
                            || reference.owner().startsWith(OURS)));
    if (!found) {
      problems.add("no member " + reference);
    }
  }

  private void checkInherited(ClassFile ours) {
    List<ClassFile> hierarchy = hierarchy(ours);
    Set<String> implemented = new HashSet<>();
    for (ClassFile type : hierarchy) {
      type.methods()
          .forEach(
              (method, access) -> {
                if ((access & ClassFile.ABSTRACT) == 0) {
                  implemented.add(method);
                }
              });
    }
    for (ClassFile type : hierarchy) {
      if (type != ours && engine(type.name())) {
        type.methods()
            .forEach((method, access) -> checkInherited(ours, type, method, access, implemented));
      }
    }
  }

  private void checkInherited(
      ClassFile ours, ClassFile type, String method, int access, Set<String> implemented) {
    boolean abstractHere = (access & ClassFile.ABSTRACT) != 0;
    if (abstractHere && !ours.is(ClassFile.ABSTRACT) && !implemented.contains(method)) {
      problems.add(ours.name() + " does not implement " + type.name() + "." + method);
    }
    int bound = ClassFile.FINAL;
    boolean inheritable =
        (access & (ClassFile.PRIVATE | ClassFile.STATIC)) == 0 && !method.startsWith("<");
    if ((access & bound) != 0 && inheritable && ours.methods().containsKey(method)) {
      problems.add(ours.name() + " overrides the final " + type.name() + "." + method);
    }
  }

  /** The class, its superclasses, and all their interfaces. */
  private List<ClassFile> hierarchy(ClassFile type) {
    List<ClassFile> found = new ArrayList<>();
    Deque<String> open = new ArrayDeque<>(List.of(type.name()));
    Set<String> seen = new HashSet<>();
    while (!open.isEmpty()) {
      String name = open.poll();
      ClassFile next = seen.add(name) ? index.find(name).orElse(null) : null;
      if (next != null) {
        found.add(next);
        open.addAll(next.interfaces());
        // An interface's superclass is Object, too: its methods can be called on it.
        if (next.superName() != null) {
          open.add(next.superName());
        }
      }
    }
    return found;
  }
}
