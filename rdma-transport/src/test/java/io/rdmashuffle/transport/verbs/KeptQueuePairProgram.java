package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;

/**
 * Connects two queue pairs on the software adapter and closes one of them, its id and its domain.
 * Prints what each throws, and what becomes of a receive that was posted before. Its environment
 * says which calls fail.
 */
final class KeptQueuePairProgram {
  private static final int BYTES = 64;

  private KeptQueuePairProgram() {}

  public static void main(String[] args) throws Exception {
    try (DisniProvider soft = DisniProviders.soft();
        VerbsRig rig = new VerbsRig(soft, InetAddress.getByName("127.0.0.1"))) {
      RigPair pair = rig.connect();
      RigMemory sink = rig.sink(BYTES);
      RigMemory message = rig.memory(rig.server(), BYTES, Access.LOCAL_WRITE);
      pair.client()
          .queuePair()
          .postReceive(1, sink.region().address(), BYTES, sink.region().lkey());
      System.out.println("queue pair: " + failureOf(pair.client().queuePair()));
      pair.server()
          .queuePair()
          .postSend(2, message.region().address(), BYTES, message.region().lkey());
      System.out.println("receive: " + rig.client().completion().status());
      System.out.println("queue pair again: " + failureOf(pair.client().queuePair()));
      System.out.println("id: " + failureOf(pair.client().id()));
      System.out.println("id again: " + failureOf(pair.client().id()));
      System.out.println("domain: " + failureOf(rig.client().domain()));
      System.out.flush();
      Runtime.getRuntime().halt(0); // nothing of it can be closed
    }
  }

  private static String failureOf(AutoCloseable part) {
    try {
      part.close();
      return "closed";
    } catch (Exception e) {
      return e.toString();
    }
  }
}
