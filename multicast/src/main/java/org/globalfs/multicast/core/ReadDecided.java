package org.globalfs.multicast.core;

/**
 * A peer needs decided instances {@code from}..{@code through}. The caller reads a bounded run of
 * them from its log and sends {@link Message.CatchUpReply}, or {@link Message.TooOld} when its log
 * begins later than {@code from}; {@code through} is this core's decided prefix and goes into the
 * reply's {@code decided}.
 */
public record ReadDecided(int peer, long from, long through) {}
