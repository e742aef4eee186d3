package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

final class NodeAddressTest {
  private static final String QUERY = "/mapOutput?job=job_1_0001&reduce=0&map=";

  @Test
  void hostAndPortAreThoseOfTheUrl() {
    assertThat(NodeAddress.of("http://node7.example:13562" + QUERY))
        .isEqualTo(new NodeAddress("node7.example", 13562));
  }

  @Test
  void aLiteralIpv6AddressLosesItsBrackets() throws Exception {
    NodeAddress node = NodeAddress.of("http://[fd00::7]:13562" + QUERY);
    assertThat(node).isEqualTo(new NodeAddress("fd00::7", 13562));
    assertThat(node.rdmaAddresses(13563)).isEmpty();
  }

  @Test
  void aUrlWithoutHostOrPortIsRefused() {
    assertThatThrownBy(() -> NodeAddress.of("http://node_7:13562" + QUERY)) // '_' makes it no host
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("node_7");
    assertThatThrownBy(() -> NodeAddress.of("http://node7" + QUERY))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aPeerIsFoundAtItsRdmaPortWithTheJobsCredential() throws Exception {
    JobPeers peers = new JobPeers(42, new byte[] {1, 2, 3});
    Peer peer = peers.peer(new NodeAddress("127.0.0.1", 13562), 13563);
    Invitation.Ticket ticket = (Invitation.Ticket) peers.discover(peer).join();
    assertThat(ticket.addresses()).containsExactly(new InetSocketAddress("127.0.0.1", 13563));
    assertThat(ticket.credentialId()).isEqualTo(42);
    assertThat(ticket.secret()).containsExactly(1, 2, 3);
  }

  @Test
  void aNodeWithoutIpv4IsNoPeer() {
    JobPeers peers = new JobPeers(42, new byte[] {1});
    assertThatThrownBy(() -> peers.peer(new NodeAddress("::1", 13562), 13563))
        .isInstanceOfSatisfying(
            SegmentLostException.class,
            e -> assertThat(e.reason()).isEqualTo(FallbackReason.NOT_SUPPORTED))
        .hasMessageContaining("IPv4");
  }
}
