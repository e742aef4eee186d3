package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.verbs.HeldFile;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.security.UserGroupInformation;

/** Whose files are served as a job's map outputs; Hadoop's SecureIOUtils has the same rule. */
enum FileOwners {
  /** Anybody's: all containers run as one user. */
  ANY,
  /**
   * The job's user's: with Kerberos each container runs as the user of its job, and could put a
   * file in its directories that is not his.
   */
  USER_OF_JOB;

  static FileOwners demandedHere() {
    return UserGroupInformation.isSecurityEnabled() ? USER_OF_JOB : ANY;
  }

  void check(HeldFile file, Job job) throws IOException {
    if (this == ANY) {
      return;
    }
    String owner = Files.getOwner(file.path()).getName();
    if (!owner.equals(job.user())) {
      throw new IOException("it belongs to " + owner + ", not to " + job.user());
    }
  }
}
