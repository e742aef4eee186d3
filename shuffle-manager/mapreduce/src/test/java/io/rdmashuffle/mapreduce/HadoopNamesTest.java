package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HadoopNamesTest {
  @ParameterizedTest
  @CsvSource({
    "7,3,0,job_1700000000000_0007,attempt_1700000000000_0007_m_000003_0",
    "12345,1234567,42,job_1700000000000_12345,attempt_1700000000000_12345_m_1234567_42"
  })
  void areHadoopsOwnWhateverTheLanguage(
      int job, int map, int attempt, String jobName, String attemptName) {
    JobID id = new JobID("1700000000000", job);
    TaskAttemptID its = new TaskAttemptID(new TaskID(id, TaskType.MAP, map), attempt);
    assertThat(id).hasToString(jobName); // this JVM speaks English
    assertThat(its).hasToString(attemptName);
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(new Locale("ar", "EG"));

      assertThat(HadoopNames.of(id)).isEqualTo(jobName);
      assertThat(HadoopNames.ofMap(its)).isEqualTo(attemptName);
    } finally {
      Locale.setDefault(before);
    }
  }
}
