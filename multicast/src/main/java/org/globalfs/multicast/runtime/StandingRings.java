package org.globalfs.multicast.runtime;

import java.util.List;
import java.util.Map;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.wire.LogCodec;

/**
 * Keeps a ring that stands still, for want of a majority say, from holding back the log of the
 * process's other rings until the disk is full: what it needs of the oldest segment is appended
 * again, and the segment dropped.
 *
 * <p>To be called by the event loop when it has appended what the cores want persisted: only then
 * does a core's memory say which of its records count.
 */
final class StandingRings {
    /** So that the loop goes on with what else there is to do. */
    private static final int BYTES_A_TURN = 2 << 20;

    private final MulticastLog log;
    private final LogCodec codec;

    StandingRings(MulticastLog log, LogCodec codec) {
        this.log = log;
        this.codec = codec;
    }

    void carry(Ring[] byNumber) {
        Map<Integer, Long> holding = log.heldBackBy();
        for (Map.Entry<Integer, Long> ring : holding.entrySet()) {
            int number = ring.getKey();
            if (number >= byNumber.length
                    || byNumber[number] == null
                    || !carry(byNumber[number], ring.getValue())) {
                return;
            }
        }
        if (!holding.isEmpty()) {
            log.dropCarried();
        }
    }

    /** Whether the ring needs the segment no more. */
    private boolean carry(Ring ring, long newest) {
        if (!ring.effects.persist().isEmpty()) {
            return false;
        }
        long decided = ring.core.decided();
        List<LogRecord> counting = ring.core.standing();
        if (counting == null || !log.carry(ring.number, decided, BYTES_A_TURN)) {
            return false;
        }
        if (newest > decided) {
            counting.forEach(record -> codec.append(log, ring.number, record));
        }
        return true;
    }
}
