package io.rdmashuffle.transport.client;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Discovery that answers at once with one address, or when the test says so. */
final class ScriptedDiscovery implements Discovery {
  private final List<Asked> asked = new ArrayList<>();
  private boolean automatic = true;
  private boolean broken;

  /** Someone was asked about a peer. */
  record Asked(Peer peer, CompletableFuture<Invitation> answer) {
    void answer(InetSocketAddress... addresses) {
      answer.complete(new Invitation.Ticket(List.of(addresses), 7, new byte[32]));
    }
  }

  void manual() {
    automatic = false;
  }

  /** From now on asking throws. */
  void broken() {
    broken = true;
  }

  int count() {
    return asked.size();
  }

  Asked last() {
    return asked.get(asked.size() - 1);
  }

  /** All questions ever asked about a peer. */
  List<Asked> about(Peer peer) {
    return asked.stream().filter(question -> question.peer().equals(peer)).toList();
  }

  static InetSocketAddress address(int host) {
    return new InetSocketAddress("10.0.0." + host, 4791);
  }

  @Override
  public CompletableFuture<Invitation> discover(Peer peer) {
    if (broken) {
      throw new IllegalStateException("test: cannot ask");
    }
    Asked question = new Asked(peer, new CompletableFuture<>());
    asked.add(question);
    if (automatic) {
      question.answer(address(1));
    }
    return question.answer();
  }
}
