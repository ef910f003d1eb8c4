package org.globalfs.cli.storage;

import org.globalfs.cli.status.Columns;
import org.globalfs.datastore.wire.NodeStatistics;

/** What is said of storage nodes that cannot read all their chunks in their scrubPeriod. */
final class LateScrubs {
    private static final long MIB = 1 << 20;

    private LateScrubs() {}

    /** Of a node of which {@link NodeStatistics#isScrubLate} holds: a line with the mend. */
    static String line(String node, NodeStatistics said) {
        return node
                + " cannot read all its chunks in its scrubPeriod of "
                + ProgressText.time(said.scrubPeriodMs())
                + " at "
                + Columns.bytes(said.scrubBytesPerSecond())
                + "/s: set its scrubBandwidth to "
                + Math.ceilDiv(said.neededScrubBytesPerSecond(), MIB)
                + "MiB at least, or a longer scrubPeriod";
    }
}
