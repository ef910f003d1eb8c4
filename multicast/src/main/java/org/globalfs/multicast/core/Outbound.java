package org.globalfs.multicast.core;

/** A message and the member that it goes to; {@link #ALL} is every other member of the ring. */
public record Outbound(int to, Message message) {
    public static final int ALL = -1;
}
