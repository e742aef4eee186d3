package io.rdmashuffle.transport.testing.link;

import io.rdmashuffle.transport.testing.link.ClassFile.Reference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds what would fail to link: members and classes of the engine that our classes use and that
 * are not there, abstract methods that they inherit and do not implement, final ones that they
 * override.
 */
public final class LinkCheck {
  private final ClassIndex index;
  private final List<String> engine;
  private final List<String> ours;
  private final Set<String> problems = new TreeSet<>();

  /**
   * @param index of the engine's classes and ours
   * @param engine what the names of its classes begin with
   * @param ours what those of the classes begin with that see the engine
   */
  public LinkCheck(ClassIndex index, List<String> engine, List<String> ours) {
    this.index = index;
    this.engine = engine;
    this.ours = ours;
  }

  /** One line per problem; empty if the classes link. */
  public Set<String> check(Collection<ClassFile> classes) {
    for (ClassFile type : classes) {
      type.classes().stream()
          .filter(this::engine)
          .filter(name -> index.find(name).isEmpty())
          .forEach(name -> problems.add("no class " + name));
      type.references().stream()
          .filter(r -> engine(r.owner()) || ours(r.owner()))
          .forEach(this::checkReference);
      checkInherited(type);
    }
    return problems;
  }

  private boolean engine(String name) {
    return engine.stream().anyMatch(name::startsWith) && !ours(name);
  }

  private boolean ours(String name) {
    return ours.stream().anyMatch(name::startsWith);
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
                        && ((access & ClassFile.PRIVATE) == 0 || ours(reference.owner())));
    if (!found) {
      problems.add("no member " + reference);
    }
  }

  private void checkInherited(ClassFile type) {
    List<ClassFile> hierarchy = hierarchy(type);
    Set<String> implemented = new HashSet<>();
    for (ClassFile above : hierarchy) {
      above
          .methods()
          .forEach(
              (method, access) -> {
                if ((access & ClassFile.ABSTRACT) == 0) {
                  implemented.add(method);
                }
              });
    }
    for (ClassFile above : hierarchy) {
      if (above != type && engine(above.name())) {
        above
            .methods()
            .forEach((method, access) -> checkInherited(type, above, method, access, implemented));
      }
    }
  }

  private void checkInherited(
      ClassFile type, ClassFile above, String method, int access, Set<String> implemented) {
    boolean abstractHere = (access & ClassFile.ABSTRACT) != 0;
    if (abstractHere && !type.is(ClassFile.ABSTRACT) && !implemented.contains(method)) {
      problems.add(type.name() + " does not implement " + above.name() + "." + method);
    }
    boolean inheritable =
        (access & (ClassFile.PRIVATE | ClassFile.STATIC)) == 0 && !method.startsWith("<");
    if ((access & ClassFile.FINAL) != 0 && inheritable && type.methods().containsKey(method)) {
      problems.add(type.name() + " overrides the final " + above.name() + "." + method);
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
