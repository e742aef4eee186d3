package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.apache.hadoop.mapred.JobID;
import org.junit.jupiter.api.Test;

final class JobCredentialTest {
  private static final JobID JOB = new JobID("1700000000000", 7);
  private static final byte[] SHUFFLE_SECRET = HexFormat.of().parseHex("0011223344556677");

  /** NodeManagers and jobs of different releases of this project must agree. */
  @Test
  void isTheSameInEveryRelease() {
    JobCredential credential = JobCredential.of(JOB, SHUFFLE_SECRET);

    assertThat(Long.toHexString(credential.id())).isEqualTo("d7244b14272a7faa");
    assertThat(HexFormat.of().formatHex(credential.secret()))
        .isEqualTo("19f59db9e3a7549fc5d8762642bbe01c0d0c8e7fe319fe584dae575f41ffbb0a");
  }

  @Test
  void dependsOnTheJobAndTheSecretOnBoth() {
    JobCredential credential = JobCredential.of(JOB, SHUFFLE_SECRET);
    JobCredential otherJob = JobCredential.of(new JobID("1700000000000", 8), SHUFFLE_SECRET);
    JobCredential otherSecret = JobCredential.of(JOB, new byte[] {1});

    assertThat(otherJob.id()).isNotEqualTo(credential.id());
    assertThat(otherJob.secret()).isNotEqualTo(credential.secret());
    assertThat(otherSecret.id()).isEqualTo(credential.id());
    assertThat(otherSecret.secret()).isNotEqualTo(credential.secret());
  }

  @Test
  void doesNotTellItsSecret() {
    JobCredential credential = JobCredential.of(JOB, SHUFFLE_SECRET);
    assertThat(credential.toString())
        .isEqualTo("credential 0x" + Long.toHexString(credential.id()));
  }

  @Test
  void needsASecret() {
    assertThatThrownBy(() -> JobCredential.of(JOB, new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
