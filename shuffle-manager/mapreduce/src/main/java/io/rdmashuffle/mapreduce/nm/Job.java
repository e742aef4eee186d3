package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.JobCredential;
import java.security.MessageDigest;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.yarn.api.records.ApplicationId;

/**
 * A job whose map outputs this NodeManager holds. Immutable, any thread.
 *
 * @param application it is
 * @param user whose directories the map outputs are in
 * @param shuffleSecret as Hadoop's token gives it; kept secret
 */
record Job(ApplicationId application, String user, byte[] shuffleSecret) {
  /**
   * @throws IllegalArgumentException if the user could lead out of the users' directory, or there
   *     is no secret
   */
  Job {
    boolean plain =
        !user.isEmpty()
            && user.indexOf('/') < 0
            && user.indexOf('\0') < 0
            && !user.equals(".")
            && !user.equals("..");
    if (!plain) {
      throw new IllegalArgumentException("user '" + user + "' is no name of a directory");
    }
    if (shuffleSecret.length == 0) {
      throw new IllegalArgumentException(application + " has an empty shuffle secret");
    }
  }

  /** As MapReduce derives it, and its reducers know it. */
  JobID id() {
    return idOf(application);
  }

  static JobID idOf(ApplicationId application) {
    return new JobID(Long.toString(application.getClusterTimestamp()), application.getId());
  }

  JobCredential credential() {
    return JobCredential.of(id(), shuffleSecret);
  }

  boolean isSameAs(Job other) {
    return application.equals(other.application)
        && user.equals(other.user)
        && MessageDigest.isEqual(shuffleSecret, other.shuffleSecret);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return id() + " of " + user;
  }
}
