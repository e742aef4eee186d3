package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JobTest {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(1_700_000_000_000L, 7);

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "../bob", "/etc", "a\0b"})
  void usersThatLeadElsewhereAreRefused(String user) {
    assertThatThrownBy(() -> new Job(APPLICATION, user, new byte[] {1}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"alice", "svc_etl-1", "alice@EXAMPLE.COM", "..alice", "a b", "ünal"})
  void usersOfEveryOtherFormAreTaken(String user) {
    assertThat(new Job(APPLICATION, user, new byte[] {1}).user()).isEqualTo(user);
  }

  @Test
  void aJobWithoutASecretIsRefused() {
    assertThatThrownBy(() -> new Job(APPLICATION, "alice", new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void itsIdIsThatOfMapReduceAndItsTextKeepsTheSecret() {
    Job job = new Job(APPLICATION, "alice", new byte[] {77, 78});
    assertThat(job.id()).hasToString("job_1700000000000_0007");
    assertThat(job.toString()).isEqualTo("job_1700000000000_0007 of alice");
  }

  @Test
  void anotherSecretMakesItAnotherJob() {
    Job job = new Job(APPLICATION, "alice", new byte[] {1});
    assertThat(job.isSameAs(new Job(APPLICATION, "alice", new byte[] {1}))).isTrue();
    assertThat(job.isSameAs(new Job(APPLICATION, "alice", new byte[] {2}))).isFalse();
    assertThat(job.isSameAs(new Job(APPLICATION, "bob", new byte[] {1}))).isFalse();
  }
}
