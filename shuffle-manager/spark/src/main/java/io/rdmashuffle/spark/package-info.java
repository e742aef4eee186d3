/**
 * The shuffle in Spark's terms, and nothing else: map outputs are reported to the catalog as Spark
 * commits them, blocks are asked of the transport as Spark asks for them, and whatever does not
 * come by RDMA goes to the client that Spark would have used.
 *
 * <p>One jar serves Spark 3.5 to 4.2 with Scala 2.12 and 2.13. Written therefore against Spark 4.0
 * and only against members that all of them have; {@code LinkCheckIT} resolves every reference of
 * the classes against each version. From Scala's library only Option, Tuple2, the functions and
 * Iterator's hasNext and next are used: the collections differ.
 *
 * <p>Hot path: {@code RdmaFetch}, {@code RdmaManagedBuffer}.
 */
package io.rdmashuffle.spark;
