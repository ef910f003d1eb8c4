package org.globalfs.multicast.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What must outlive trimming: every ring's newest meta records. Written by the log's writer. */
final class RingMetas {
    private static final byte[] NOTHING = {};

    private final Map<Integer, TreeMap<Integer, StoredRecord>> newest = new TreeMap<>();
    private final Map<Integer, Long> droppedThrough = new HashMap<>();

    synchronized void note(int ring, int kind, long ballot, long instance, ByteBuffer payload) {
        if (kind == StoredRecord.SEAL) {
            return;
        }
        TreeMap<Integer, StoredRecord> ofRing = newest.computeIfAbsent(ring, r -> new TreeMap<>());
        if (ballot != 0) {
            StoredRecord promised = ofRing.get(StoredRecord.PROMISED);
            if (promised == null || promised.ballot() < ballot) {
                ofRing.put(
                        StoredRecord.PROMISED,
                        new StoredRecord(ring, StoredRecord.PROMISED, ballot, 0, NOTHING));
            }
        }
        if (kind < StoredRecord.FIRST_INSTANCE_KIND && kind != StoredRecord.PROMISED) {
            byte[] copy = new byte[payload.remaining()];
            payload.duplicate().get(copy);
            ofRing.put(kind, new StoredRecord(ring, kind, ballot, instance, copy));
        }
        if (kind == StoredRecord.START_AFTER || kind == StoredRecord.TRIMMED) {
            droppedThrough.merge(ring, instance, Math::max);
        }
    }

    void note(StoredRecord record) {
        note(
                record.ring(),
                record.kind(),
                record.ballot(),
                record.instance(),
                ByteBuffer.wrap(record.payload()));
    }

    /** The log drops the ring's records through this instance. */
    synchronized void trimmed(int ring, long through) {
        if (through > droppedThrough.getOrDefault(ring, 0L)) {
            droppedThrough.put(ring, through);
            newest.computeIfAbsent(ring, r -> new TreeMap<>())
                    .put(
                            StoredRecord.TRIMMED,
                            new StoredRecord(ring, StoredRecord.TRIMMED, 0, through, NOTHING));
        }
    }

    synchronized long droppedThrough(int ring) {
        return droppedThrough.getOrDefault(ring, 0L);
    }

    synchronized List<StoredRecord> all() {
        List<StoredRecord> all = new ArrayList<>();
        newest.values().forEach(ofRing -> all.addAll(ofRing.values()));
        return all;
    }

    synchronized int sizeBytes() {
        int sum = 0;
        for (StoredRecord record : all()) {
            sum += RecordFormat.sizeOf(record.payload().length);
        }
        return sum;
    }
}
