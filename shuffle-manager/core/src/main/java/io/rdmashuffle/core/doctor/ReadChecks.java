package io.rdmashuffle.core.doctor;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.ReaderTransport;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What only doing it tells: registering files, connecting, reading. One thread. */
final class ReadChecks {
  private static final int SECRET_BYTES = 32;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(25);

  private final VerbsProvider provider;
  private final InetAddress address;
  private final TransportSettings settings;
  private final Findings findings;

  /**
   * @param provider lent
   * @param address of the adapter
   */
  ReadChecks(
      VerbsProvider provider, InetAddress address, DoctorOptions options, Findings findings) {
    this.provider = provider;
    this.address = address;
    this.settings =
        settings(new MemoryBudget.Bound(options.wanted().bytes(), "--need", "raise it"));
    this.findings = findings;
  }

  /** A job's, but for the time to connect: a slow host is to hear what works, if slowly. */
  private static TransportSettings settings(MemoryBudget.Bound memory) {
    TransportSettings job = TransportSettings.defaults(memory);
    ChannelSettings patient = job.channel().withConnectTimeout(CONNECT_TIMEOUT);
    return new TransportSettings(patient, job.server(), job.client(), memory, job.overflow());
  }

  private Transport.Site site(String name) {
    return new Transport.Site(provider.lent(), address, name, NanoClock.system());
  }

  /** Maps and registers a file there, and reads it back through the adapter. */
  void folder(Path folder) {
    try (SampleFile sample = SampleFile.create(folder);
        Served served = Served.open(site("doctor-owner"), sample, settings)) {
      report("folder", folder.toString(), read(served.code()), "the file cannot be registered");
    } catch (TransportException e) { // names the remedy itself
      findings.add(Finding.failed("folder", folder + ": " + e.getMessage(), ""));
    } catch (IOException e) {
      findings.add(
          Finding.failed("folder", folder + ": " + e, "name a folder this user may write to"));
    }
  }

  /** Reads what the doctor of another host serves. */
  void peer(PeerCode code) {
    try {
      report("peer", code.toString(), read(code), "its files cannot be registered there");
    } catch (IOException e) {
      findings.add(Finding.failed("peer", code + ": " + e.getMessage(), ""));
    }
  }

  private SampleFetch read(PeerCode code) throws TransportException {
    SampleFetch fetch = new SampleFetch();
    try (ReaderTransport reader =
        ReaderTransport.open(
            site("doctor-reader"),
            peer -> CompletableFuture.completedFuture(code.invitation()),
            settings)) {
      Peer owner = new Peer("doctor", code.address().getHostString(), code.address().getPort());
      reader.client().fetch(owner, SampleFile.keys(), fetch);
      fetch.await();
    }
    return fetch;
  }

  private void report(String check, String where, SampleFetch fetch, String whyStaged) {
    FallbackReason reason = fetch.reason();
    if (fetch.isWrong()) {
      findings.add(
          Finding.failed(check, where + ": READ brought wrong bytes", "do not use this adapter"));
    } else if (reason != null) {
      findings.add(
          Finding.failed(
              check,
              where + ": no READ: " + reason.label(),
              "see the line about the port; between hosts also firewall (UDP 4791 for RoCE),"
                  + " routes, the same subnet or fabric"));
    } else if (fetch.isStaged()) {
      findings.add(
          Finding.warning(
              check,
              where + ": READ works, out of copies: " + whyStaged,
              "a newer kernel or another file system may allow it; ext4, xfs and tmpfs are known to"
                  + " work"));
    } else {
      findings.add(Finding.ok(check, where + ": registered in place, READ works"));
    }
  }

  /** Waits for doctors of other hosts until the input ends. */
  void listen(Path folder) throws IOException {
    try (SampleFile sample = SampleFile.create(folder);
        Served served = Served.open(site("doctor-owner"), sample, settings)) {
      System.err.println("On the other host, add: --peer " + served.code().format());
      System.err.println("Waiting until Enter is pressed.");
      int ended = System.in.read();
      System.err.println(ended < 0 ? "The input has ended." : "Done.");
    }
  }

  /** A sample that others may read. */
  private record Served(OwnerTransport transport, PeerCode code) implements AutoCloseable {
    static Served open(Transport.Site site, SampleFile sample, TransportSettings settings)
        throws TransportException {
      SecureRandom random = new SecureRandom();
      byte[] secret = new byte[SECRET_BYTES];
      random.nextBytes(secret);
      long credentialId = random.nextLong();
      OwnerTransport transport = OwnerTransport.open(site, sample, 0, settings);
      try {
        transport.admit(credentialId, secret);
      } catch (TransportException e) {
        transport.close();
        throw e;
      }
      return new Served(transport, new PeerCode(transport.listenAddress(), credentialId, secret));
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
