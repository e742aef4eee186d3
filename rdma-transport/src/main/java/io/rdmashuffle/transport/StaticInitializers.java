package io.rdmashuffle.transport;

import java.util.List;

/**
 * Initializes the classes that a transport may need, before it has anything to lose. An Error in a
 * static initializer is final: were a class first used while the heap is full, to report a block or
 * to recover, that could never be done again in this process (JVM specification, 5.5).
 *
 * <p><b>Threads:</b> any. <b>Errors:</b> whatever an initializer throws; the transport is not
 * opened then. There is nothing to close.
 */
final class StaticInitializers {
  /** Below the package of this class; a test compares them with the code. */
  private static final String NAMES =
      """
      AdapterTransport Counter FallbackReason LogLimit Role TicketOffice
      TransportException$Kind channel.ChannelCore channel.ChannelLayer
      channel.ChannelSettings channel.CmThread channel.ConnectAnswer$1
      channel.ConnectAnswer$Reason channel.DeviceWatch$1 channel.DeviceWatch
      channel.Doorkeeper channel.Endpoint channel.Hmac channel.Inbound$1
      channel.KeepAlive channel.LayerThreads channel.Link channel.LinkWork$Task
      channel.LinkWork channel.Outbound$1 channel.Outbound$State channel.OutboundDialer
      channel.OwnerConnection$State channel.OwnerConnection channel.ProgressThread
      channel.ReaderConnection$State channel.ReaderConnection channel.Recoveries
      channel.Rejecting client.Block$Source client.ConnectionSlots client.Delivery
      client.DeviceBreaker$State client.DeviceBreaker client.LandedMemory
      client.LeaseReturns client.LostBlocks client.Outcomes$1 client.PeerLink
      client.RdmaBlockClient$1 client.RdmaBlockClient client.ReadPump$Stop
      client.Session handover.Gate handover.Threads handover.WorkQueue
      handover.WorkerPool memory.ByteText memory.ChunkPool$Chunk memory.ChunkPool
      memory.FileWindows$1 memory.MemoryBudget$Use memory.OverflowLimit memory.Slab
      memory.WindowSupport$Mode memory.WritableFiles server.LocateAnswers
      server.LocateCall server.Pressure server.RdmaBlockServer
      server.RegistrationBackoff server.Reports server.ServerSession server.Staging
      server.Window$State server.WindowRegistrar verbs.Access verbs.AsyncEvent$Type
      verbs.CmEvent$Type verbs.HostMemory$MapMode verbs.WcStatus$1 verbs.WcStatus
      wire.ReasonCodes$1 wire.ReasonCodes
      """;

  private StaticInitializers() {}

  static List<String> names() {
    return List.of(NAMES.strip().split("\\s+"));
  }

  static void run() {
    for (String name : names()) {
      try {
        Class.forName(StaticInitializers.class.getPackageName() + "." + name);
      } catch (ClassNotFoundException e) {
        throw new LinkageError("the jar lacks " + name, e);
      }
    }
  }
}
