package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;

/** A reader with little memory that is connected to one owner, for tests to extend. */
abstract class SmallMemory {
  /** Two chunks in place, two for transit. */
  static final Setup SMALL = Setup.standard().withChunks(4, 2);

  ClientRig rig;
  Owner owner;
  ScriptedReaderChannel channel;

  /** Connects to an owner of blocks of that size. */
  final void open(Setup setup, int blockBytes) {
    rig = new ClientRig(setup);
    owner = new Owner(blockBytes);
    channel = rig.connected(owner);
  }

  final void end() {
    rig.fail(channel);
    rig.close();
  }
}
