/**
 * The verbs interface in terms of DiSNI: the only package that names DiSNI's types. Its classes are
 * defined by the class loader that also defines DiSNI, so nothing outside may refer to them; {@code
 * DisniProviders} reaches {@link io.rdmashuffle.transport.verbs.disni.impl.LoadedProvider} by name.
 *
 * <p><b>What DiSNI does:</b> its prepared calls ({@code SVCPostSend}, {@code SVCReqNotify}, {@code
 * SVCRegMr}) and its native methods. <b>What it does not:</b> its endpoint groups lead an error
 * completion to the wrong endpoint and wait for ever for a failed connect; its poll call leaves
 * qp_num stale after an error; its receive call cannot be changed once prepared; its connection
 * manager class keeps every id in an unsynchronised map for good and logs each call. There this
 * package calls the native methods directly, or those of {@link
 * io.rdmashuffle.transport.verbs.disni.impl.NativeExtras}.
 *
 * <p><b>Its log:</b> DiSNI writes a few lines at INFO when it starts, among them a "mismatch" of
 * IbvSendWR, to whose native size it adapts as intended, and one for each protection domain and
 * completion queue. Nothing is logged per connection, region or block.
 *
 * <p><b>Hot path:</b> {@code LoadedQueuePair} posts, {@code LoadedCompletionQueue} polls; neither
 * allocates.
 */
package io.rdmashuffle.transport.verbs.disni.impl;
