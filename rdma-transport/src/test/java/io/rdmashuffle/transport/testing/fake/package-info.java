/**
 * The verbs interface in memory, for one JVM: several adapters on one {@link
 * io.rdmashuffle.transport.testing.fake.FakeFabric}.
 *
 * <p>It keeps the rules of verbs that a program can break: keys, bounds, rights and protection
 * domains; queue and completion queue room; completions in order per queue; flushing after an
 * error; order of destruction. Where adapters differ it does the least they all do, so that code
 * that passes here leans on nothing special. Addresses are invented and never used twice: whoever
 * uses one after its mapping is closed gets an error, not another's bytes.
 */
package io.rdmashuffle.transport.testing.fake;
