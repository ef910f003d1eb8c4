package org.globalfs.cli.storage;

import java.util.concurrent.TimeUnit;
import org.globalfs.cli.status.Columns;
import org.globalfs.datastore.wire.NodeStatistics;

/** How far a node is that gives away all that it holds. */
final class NodeDrain {
    private static final long STALLED_NS = TimeUnit.MINUTES.toNanos(1);

    private final String id;
    private final long beganNs;

    /** As much as it ever had to give away. */
    private long mostBytes;

    private long chunks = -1;
    private long bytes;
    private boolean silent;
    private long changedNs;
    private long heardNs;

    /** When it first gave something away, and what it had left then; 0: not yet. */
    private long startNs;

    private long startBytes;

    NodeDrain(String id, long nowNs) {
        this.id = id;
        beganNs = nowNs;
        changedNs = nowNs;
        heardNs = nowNs;
    }

    void heard(NodeStatistics said, long nowNs) {
        silent = false;
        heardNs = nowNs;
        if (said.chunks() != chunks) {
            if (startNs == 0 && said.chunks() < chunks) {
                startNs = nowNs;
                startBytes = said.liveBytes();
            }
            chunks = said.chunks();
            changedNs = nowNs;
        }
        bytes = said.liveBytes();
        mostBytes = Math.max(mostBytes, bytes);
    }

    /** It has not answered. */
    void unheard() {
        silent = true;
    }

    long silentNs(long nowNs) {
        return silent ? nowNs - heardNs : 0;
    }

    boolean isEmpty() {
        return chunks == 0;
    }

    /** Nothing has moved for a minute; true once for each. */
    boolean hasStalled(long nowNs) {
        boolean stalled = !silent && nowNs - changedNs >= STALLED_NS;
        if (stalled) {
            changedNs = nowNs;
        }
        return stalled;
    }

    ProgressView.Row row(long nowNs) {
        double done = isEmpty() ? 1 : ProgressText.part(mostBytes - bytes, mostBytes);
        return new ProgressView.Row(id, done, text(nowNs), isEmpty());
    }

    private String text(long nowNs) {
        if (silent) {
            return "does not answer; waiting for it";
        }
        if (isEmpty()) {
            return Columns.bytes(mostBytes)
                    + " given away in "
                    + ProgressText.time(TimeUnit.NANOSECONDS.toMillis(nowNs - beganNs));
        }
        return ProgressText.count(chunks, "chunk")
                + ", "
                + Columns.bytes(bytes)
                + " to give away"
                + (startNs == 0
                        ? ""
                        : ProgressText.timeLeft(
                                TimeUnit.NANOSECONDS.toMillis(nowNs - startNs),
                                startBytes - bytes,
                                startBytes));
    }
}
