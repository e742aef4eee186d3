package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.ManualClock;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TicketOfficeTest {
  private final ManualClock clock = new ManualClock();
  private final TicketOffice office = new TicketOffice(null, clock);

  @Test
  void aTicketIsFoundUntilItIsUsedAndUsedOnce() {
    TicketOffice.Ticket ticket = office.issue();

    assertThat(office.find(ticket.credentialId()).secret()).isEqualTo(ticket.secret());
    assertThat(office.find(ticket.credentialId())).as("finding does not use it up").isNotNull();
    assertThat(office.redeem(ticket.credentialId(), null)).isTrue();
    assertThat(office.redeem(ticket.credentialId(), null)).isFalse();
    assertThat(office.find(ticket.credentialId())).isNull();
  }

  @Test
  void aTicketNeverIssuedIsUnknown() {
    assertThat(office.find(1)).isNull();
    assertThat(office.redeem(1, null)).isFalse();
  }

  @Test
  void aTicketExpires() {
    TicketOffice.Ticket used = office.issue();
    TicketOffice.Ticket other = office.issue();
    clock.advanceNs(TicketOffice.LIFETIME.toNanos() - 1);
    assertThat(office.redeem(used.credentialId(), null)).isTrue();

    clock.advanceNs(1);

    assertThat(office.find(other.credentialId())).isNull();
    assertThat(office.redeem(other.credentialId(), null)).isFalse();
    assertThat(office.outstanding()).isZero();
  }

  @Test
  void secretsAndIdsDiffer() {
    Set<String> secrets = new HashSet<>();
    Set<Long> ids = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      TicketOffice.Ticket ticket = office.issue();
      assertThat(ticket.secret()).hasSize(32);
      secrets.add(HexFormat.of().formatHex(ticket.secret()));
      ids.add(ticket.credentialId());
    }
    assertThat(secrets).hasSize(1000);
    assertThat(ids).hasSize(1000);
  }

  @Test
  void theOldestIsVoidWhenTooManyAreOutstanding() {
    TicketOffice.Ticket first = office.issue();
    TicketOffice.Ticket second = office.issue();
    for (int i = 2; i < TicketOffice.OUTSTANDING; i++) {
      office.issue();
    }
    assertThat(office.find(first.credentialId())).isNotNull();

    office.issue();

    assertThat(office.find(first.credentialId())).isNull();
    assertThat(office.find(second.credentialId())).isNotNull();
    assertThat(office.outstanding()).isEqualTo(TicketOffice.OUTSTANDING);
  }

  @Test
  void aSecretChangedByItsHolderDoesNotChangeTheOffices() {
    TicketOffice.Ticket ticket = office.issue();
    byte[] before = ticket.secret().clone();
    ticket.secret()[0]++;
    office.find(ticket.credentialId()).secret()[1]++;

    assertThat(office.find(ticket.credentialId()).secret()).isEqualTo(before);
  }
}
