package io.rdmashuffle.mapreduce.nm;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;

/** How a NodeManager tells its shuffle service of a job, as by the job's first container. */
final class Announcement {
  private Announcement() {}

  static ApplicationInitializationContext of(Job job) throws IOException {
    return new ApplicationInitializationContext(
        job.user(), job.application(), serviceData(job, job.shuffleSecret()));
  }

  /** What the application master gives the service. */
  static ByteBuffer serviceData(Job job, byte[] secret) throws IOException {
    return ShuffleHandler.serializeServiceData(
        new Token<>(
            new JobTokenIdentifier(new Text(job.id().toString())).getBytes(),
            secret,
            new Text("mapreduce.job"),
            new Text("shuffle")));
  }
}
