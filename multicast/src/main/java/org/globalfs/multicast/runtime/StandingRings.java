package org.globalfs.multicast.runtime;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.wire.LogCodec;
import org.jspecify.annotations.Nullable;

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
        Map<Ring, List<LogRecord>> counting = new LinkedHashMap<>();
        for (Map.Entry<Integer, Long> held : holding.entrySet()) {
            int number = held.getKey();
            Ring ring = number < byNumber.length ? byNumber[number] : null;
            List<LogRecord> records = ring == null ? null : counting(ring, held.getValue());
            if (records == null) {
                return;
            }
            counting.put(ring, records);
        }
        for (Ring ring : counting.keySet()) {
            if (!log.carry(ring.number, ring.core.decided(), BYTES_A_TURN)) {
                return;
            }
        }
        counting.forEach((ring, records) ->
                records.forEach(record -> codec.append(log, ring.number, record)));
        if (!holding.isEmpty()) {
            log.dropCarried();
        }
    }

    /**
     * What the log has to be told again beside decided records; null: not now.
     *
     * @param newest instance in what is to be dropped: without undecided ones no vote is lost
     */
    private static @Nullable List<LogRecord> counting(Ring ring, long newest) {
        List<LogRecord> standing = ring.effects.persist().isEmpty() ? ring.core.standing() : null;
        boolean decided = newest <= ring.core.decided();
        return standing != null && decided ? standing.subList(0, 1) : standing;
    }
}
