package io.rdmashuffle.mapreduce;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobID;

/**
 * With what the reducers of a job connect to NodeManagers: both sides derive it from the job's id
 * and shuffle secret, which Hadoop gives to the NodeManager in the service data of containers and
 * to tasks in their credentials.
 *
 * <p>The secret of Hadoop itself never serves as a key here: what can be learnt from these codes is
 * of no use against the shuffle over HTTP, and the other way round. The algorithm is fixed, for
 * NodeManager and job may run different releases of Hadoop.
 *
 * @param id sent in the clear; says nothing about the job to who does not know it
 * @param secret of 32 bytes
 */
public record JobCredential(long id, byte[] secret) {
  private static final String ID_LABEL = "rdma-shuffle mapreduce job ";
  private static final String SECRET_LABEL = "rdma-shuffle mapreduce secret ";
  private static final String HMAC = "HmacSHA256";

  /**
   * @param shuffleSecret as {@code ReduceTask.getShuffleSecret().getEncoded()} and the token in the
   *     service data give it
   * @throws IllegalArgumentException if the secret is empty
   */
  public static JobCredential of(JobID job, byte[] shuffleSecret) {
    String name = HadoopNames.of(job);
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes(ID_LABEL + name));
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(shuffleSecret, HMAC));
      byte[] secret = mac.doFinal(bytes(SECRET_LABEL + name));
      return new JobCredential(ByteBuffer.wrap(digest).getLong(), secret);
    } catch (GeneralSecurityException e) { // every Java has both
      throw new IllegalStateException(e);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "credential 0x" + Long.toHexString(id);
  }
}
