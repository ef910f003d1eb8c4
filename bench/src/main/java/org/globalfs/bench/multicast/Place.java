package org.globalfs.bench.multicast;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.globalfs.bench.lab.Figure;

/** Where the members of a cluster run: on loopback, or in the regions of the WAN lab. */
interface Place {
    int MEMBERS = 3;

    /** How many members there are, from 1. */
    default int members() {
        return MEMBERS;
    }

    Map<Integer, InetSocketAddress> freshAddresses();

    /** What goes before the program to run it as this member. */
    List<String> prefix(int member);

    /** After how long an unacknowledged value counts as lost. */
    int retryMs();

    /** Number of the ring: 0 is set up for members an ocean apart. */
    int ring();

    /** Begins to watch whether the place itself falsifies figures. */
    void watch();

    /** A figure measured since {@link #watch}, with what there is to say against it. */
    String judged(Figure figure);
}
