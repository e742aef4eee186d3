package io.rdmashuffle.transport.verbs;

/**
 * What some kinds of devices rightly or wrongly do differently. The suite asks here, and checks
 * that a device does what is said of it: one that is mended fails the suite, until this says so.
 *
 * @param iwarp RDMA over TCP
 * @param siw the kernel's software iWARP
 */
public record DeviceTraits(boolean iwarp, boolean siw) {
  static DeviceTraits of(Device device) {
    return new DeviceTraits(device.attributes().iwarp(), device.name().startsWith("siw"));
  }

  /** MPA (RFC 5044) carries private data at its own length; InfiniBand's CM fills its field up. */
  boolean padsPrivateData() {
    return !iwarp;
  }

  /**
   * An iWARP peer answers a bad request with TERMINATE, which breaks the connection (RFC 5040,
   * section 4.8); the request that caused it is flushed like the others.
   */
  boolean namesRemoteErrors() {
    return !iwarp;
  }

  /** A SEND over iWARP completes when TCP has taken it, whatever the peer makes of it. */
  boolean sendsAreAcknowledged() {
    return !iwarp;
  }

  /**
   * siw serves READs of any registered memory of the domain: it looks at neither the right of the
   * queue pair nor that of the region (siw_check_sgl_tx with no permission in siw_qp_tx.c). So
   * nobody may offer memory on siw to peers that are not trusted.
   */
  boolean checksReadRights() {
    return !siw;
  }

  /**
   * siw takes what is posted to a queue pair in error and says nothing more of it (siw_post_send
   * flushes for users in the kernel only).
   */
  boolean flushesWhatIsPostedInError() {
    return !siw;
  }

  /** siw completes a SEND while READs posted before it wait for their answers. */
  boolean completesInOrder() {
    return !siw;
  }

  /** siw connects its TCP socket within the call, so that a refusal is the call's. */
  boolean connectFailsLater() {
    return !siw;
  }
}
