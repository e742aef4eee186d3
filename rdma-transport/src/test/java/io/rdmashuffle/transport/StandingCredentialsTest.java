package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rdmashuffle.transport.channel.Credentials.Credential;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class StandingCredentialsTest {
  private static final byte[] SECRET = {1, 2, 3};

  private final FakeFabric fabric = FakeFabric.immediate();
  private final StandingCredentials credentials = new StandingCredentials();
  private Device device;

  @BeforeEach
  void open() throws Exception {
    device = fabric.newProcess(Long.MAX_VALUE, 4096).open(fabric.addAdapter());
  }

  @AfterEach
  void nothingIsLeft() {
    credentials.close();
    device.close();
    fabric.assertNothingOpen();
  }

  private ProtectionDomain domain() throws Exception {
    return device.allocateProtectionDomain();
  }

  private StandingCredentials.Standing withdraw(long id) {
    StandingCredentials.Standing standing = credentials.standing(id);
    credentials.withdraw(id, standing);
    return standing;
  }

  @Test
  void workAsOftenAsOneLikesUntilWithdrawn() throws Exception {
    ProtectionDomain domain = domain();
    credentials.add(7, SECRET, domain);

    for (int i = 0; i < 3; i++) {
      Credential found = credentials.find(7);
      assertThat(found.secret()).isEqualTo(SECRET);
      assertThat(found.domain()).isSameAs(domain);
      assertThat(credentials.redeem(7, found)).isTrue();
    }
    withdraw(7);

    assertThat(credentials.find(7)).isNull();
    assertThat(credentials.size()).isZero();
    assertThat(withdraw(7)).isNull();
  }

  @Test
  void theReadersOfATenantShareItsPartOfTheConnectionsWhereverTheyAre() throws Exception {
    credentials.add(7, SECRET, domain());
    credentials.add(8, SECRET, domain());
    Object ofTenant = credentials.sharer(credentials.find(7), "10.0.0.1");
    assertThat(credentials.sharer(credentials.find(7), "10.0.0.2")).isEqualTo(ofTenant);
    assertThat(credentials.sharer(credentials.find(8), "10.0.0.1")).isNotEqualTo(ofTenant);
  }

  @Test
  void anIdInUseIsNotGivenAway() throws Exception {
    ProtectionDomain first = domain();
    credentials.add(7, SECRET, first);
    try (ProtectionDomain second = domain()) {
      assertThat(credentials.add(7, new byte[] {9}, second)).isFalse();
    }
    assertThat(credentials.find(7).domain()).isSameAs(first);
  }

  @Test
  void theDomainIsUnusedOnceTheLastConnectionIsOver() throws Exception {
    credentials.add(7, SECRET, domain());
    Credential found = credentials.find(7);
    credentials.redeem(7, found);
    credentials.redeem(7, found);

    StandingCredentials.Standing standing = withdraw(7);
    credentials.release(7, found);
    assertThat(standing.unused()).isNotDone();
    credentials.release(7, found);

    assertThat(standing.unused()).isDone();
    credentials.closeDomain(standing);
    credentials.close();
    device.close();
    fabric.assertNothingOpen();
  }

  @Test
  void aConnectionMayOutliveThem() throws Exception {
    credentials.add(7, SECRET, domain());
    Credential found = credentials.find(7);
    credentials.redeem(7, found);

    credentials.close();

    assertThatCode(() -> credentials.release(7, found)).doesNotThrowAnyException();
  }

  @Test
  void whoLookedBeforeAWithdrawalIsRefusedAfterIt() throws Exception {
    credentials.add(7, SECRET, domain());
    Credential found = credentials.find(7);

    assertThat(withdraw(7).unused()).isDone();
    credentials.add(7, SECRET, domain());

    assertThat(credentials.redeem(7, found)).as("of the domain that is closed now").isFalse();
    assertThat(credentials.redeem(7, credentials.find(7))).isTrue();
  }

  @Test
  void secretsAreNotShared() throws Exception {
    byte[] given = SECRET.clone();
    credentials.add(7, given, domain());
    given[0] = 99;
    credentials.find(7).secret()[0] = 98;

    assertThat(credentials.find(7).secret()).isEqualTo(SECRET);
  }
}
