package org.globalfs.multicast.log;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Which of a log's segments are still needed. Any thread. */
final class LogSpace {
    /** A log is worth rewriting when at most this part of it is needed: that bounds the copying. */
    private static final int SPARSE = 4;

    private final LogOptions options;
    private final ConcurrentHashMap<Integer, Long> checkpointed = new ConcurrentHashMap<>();

    /** Nothing is retained beyond need. */
    private volatile boolean isShort;

    LogSpace(LogOptions options) {
        this.options = options;
    }

    void checkpointed(int ring, long instance) {
        checkpointed.merge(ring, instance, Math::max);
    }

    long checkpointed(int ring) {
        return checkpointed.getOrDefault(ring, 0L);
    }

    void keepShort(boolean value) {
        isShort = value;
    }

    /** The oldest segments that may go; the last of all is written to, and stays. */
    List<Segment> droppable(Segment[] all) {
        List<Segment> result = new ArrayList<>();
        long newer = bytesOf(all);
        for (Segment segment : all) {
            newer -= segment.end;
            if (!mayGo(segment, all, newer) || !needing(segment).isEmpty()) {
                break;
            }
            result.add(segment);
        }
        return result;
    }

    /**
     * Rings that need records of the oldest segment, each with its newest instance there, when they
     * hold back a log of which they need little; else none.
     */
    Map<Integer, Long> heldBackBy(Segment[] all) {
        Segment oldest = all[0];
        long bytes = bytesOf(all);
        if (!mayGo(oldest, all, bytes - oldest.end) || needed(all) > bytes / SPARSE) {
            return Map.of();
        }
        return needing(oldest);
    }

    private boolean mayGo(Segment segment, Segment[] all, long newerBytes) {
        long retained = isShort ? 0 : options.retainedBytes();
        return segment != all[all.length - 1] && newerBytes >= retained;
    }

    private static long bytesOf(Segment[] all) {
        long bytes = 0;
        for (Segment segment : all) {
            bytes += segment.end;
        }
        return bytes;
    }

    /** Bytes of records that rings still need, at most. */
    private long needed(Segment[] all) {
        long bytes = 0;
        for (Segment segment : all) {
            for (int ring : needing(segment).keySet()) {
                bytes += segment.index.bytes(ring);
            }
        }
        return bytes;
    }

    private Map<Integer, Long> needing(Segment segment) {
        Map<Integer, Long> rings = new HashMap<>(segment.index.highest());
        rings.entrySet().removeIf(e -> e.getValue() <= checkpointed(e.getKey()));
        return rings;
    }
}
