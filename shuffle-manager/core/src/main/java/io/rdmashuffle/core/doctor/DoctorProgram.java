package io.rdmashuffle.core.doctor;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.device.HostPaths;
import io.rdmashuffle.transport.device.NetdevAddresses;
import io.rdmashuffle.transport.device.Selection;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checks, one after the other. */
public final class DoctorProgram {
  private static final int BAD_USAGE = 2;

  private final DoctorOptions options;
  private final Findings findings;

  private DoctorProgram(DoctorOptions options, Findings findings) {
    this.options = options;
    this.findings = findings;
  }

  /** Returns the exit code. */
  public static int run(String[] arguments) {
    return run(arguments, System.out);
  }

  static int run(String[] arguments, PrintStream out) {
    DoctorOptions options;
    try {
      options = DoctorOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.print(DoctorOptions.USAGE);
      return BAD_USAGE;
    }
    Findings findings = new Findings(out, options.json());
    new DoctorProgram(options, findings).check();
    findings.finish();
    return findings.verdict() == Finding.Status.FAILED ? 1 : 0;
  }

  private void check() {
    HostChecks host = new HostChecks(HostPaths.system(), NetdevAddresses.system(), findings);
    host.platform();
    host.adapters();
    Optional<Selection.Selected> selected = host.selection(options, ownAddress());
    host.memlock(options.wanted());
    boolean soft = selected.isPresent() && selected.get().provider() == Selection.Provider.SOFT;
    try (DisniProvider provider = soft ? DisniProviders.soft() : DisniProviders.system()) {
      findings.add(Finding.ok("libraries", librariesLoaded()));
      if (selected.isPresent()) {
        read(provider, selected.get());
      }
    } catch (TransportException e) {
      findings.add(Finding.failed("libraries", e.getMessage(), ""));
    }
  }

  private void read(DisniProvider provider, Selection.Selected selected) {
    ReadChecks reads = new ReadChecks(provider, selected.address(), options, findings);
    options.folders().forEach(reads::folder);
    options.peer().ifPresent(reads::peer);
    if (options.listens()) {
      try {
        reads.listen(options.folders().get(0));
      } catch (IOException e) {
        findings.add(Finding.failed("listen", e.toString(), ""));
      }
    }
  }

  private static InetAddress ownAddress() {
    try {
      return InetAddress.getLocalHost();
    } catch (UnknownHostException e) {
      return InetAddress.getLoopbackAddress();
    }
  }

  /** The files behind the sonames, whose names hold the versions. */
  private static String librariesLoaded() {
    try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
      String names =
          mappings
              .map(line -> line.replaceFirst(" \\(deleted\\)$", "")) // unpacked from the jar
              .map(line -> line.substring(line.lastIndexOf(' ') + 1))
              .filter(path -> path.matches(".*/lib(ibverbs|rdmacm|softhca|disni)[^/]*\\.so[^/]*"))
              .map(path -> path.substring(path.lastIndexOf('/') + 1))
              .distinct()
              .sorted()
              .collect(Collectors.joining(", "));
      return names.isEmpty() ? "loaded" : names;
    } catch (IOException e) {
      return "loaded, but /proc/self/maps cannot be read: " + e;
    }
  }
}
