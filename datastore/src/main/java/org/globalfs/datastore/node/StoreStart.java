package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.Disk;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the chunks of a store when it starts: in the index, and in the segments that it may not be
 * right about. Nothing else runs meanwhile.
 */
final class StoreStart {
    private static final Logger LOG = LoggerFactory.getLogger(StoreStart.class);

    private final ChunkIndex index;
    private final ChunkTable table;
    private final SegmentFolder files;
    private final Checkpoints checkpoints;
    private final SegmentLoader loader;

    StoreStart(
            ChunkIndex index,
            ChunkTable table,
            SegmentFolder files,
            Checkpoints checkpoints,
            SegmentLoader loader) {
        this.index = index;
        this.table = table;
        this.files = files;
        this.checkpoints = checkpoints;
        this.loader = loader;
    }

    /** Returns how many segments were looked through. */
    int load(Path folder) throws IOException {
        long startNs = System.nanoTime();
        List<SegmentLoader.Opened> opened = loader.open(folder);
        Map<Integer, byte[]> trusted = new HashMap<>();
        for (SegmentLoader.Opened file : opened) {
            int number = file.header().number();
            byte[] summary = checkpoints.isTrusted(file) ? index.summary(number) : null;
            if (summary != null) {
                trusted.put(number, summary);
            }
        }
        List<ChunkKey> gone = new ArrayList<>();
        // A checkpoint says nothing that is not on disk.
        Map<Integer, Integer> syncedBytes = new HashMap<>();
        index.forEach((key, row) -> {
            if (trusted.containsKey(row.segment())) {
                table.found(key, row);
            } else {
                gone.add(key);
                syncedBytes.merge(row.segment(), row.offset() + row.recordBytes(), Math::max);
            }
        });
        gone.forEach(index::remove);
        // First, for what is found in the others may be older.
        for (SegmentLoader.Opened file : opened) {
            byte[] summary = trusted.get(file.header().number());
            if (summary != null) {
                taken(loader.trust(file, summary));
            }
        }
        for (SegmentLoader.Opened file : opened) {
            int number = file.header().number();
            if (!trusted.containsKey(number)) {
                SegmentLoader.Loaded loaded =
                        loader.scan(file, syncedBytes.getOrDefault(number, 0));
                adopt(loaded.segment(), loaded.found());
            }
        }
        int lookedThrough = opened.size() - trusted.size();
        if (!opened.isEmpty()) {
            LOG.info(
                    "{}: {} chunks in {} segments, {} of them looked through, in {} ms",
                    folder,
                    table.chunks(),
                    opened.size(),
                    lookedThrough,
                    (System.nanoTime() - startNs) / 1_000_000);
        }
        return lookedThrough;
    }

    private void taken(SegmentFile segment) throws IOException {
        files.found(segment);
        segment.punchFound();
        files.counted(segment);
    }

    private void adopt(SegmentFile segment, SegmentScan.Found found) throws IOException {
        files.found(segment);
        for (ChunkRecord record : found.records()) {
            if (record.live()) {
                adopt(segment, record, found.torn().contains(record.offset()));
            } else {
                segment.foundDead(record.offset(), record.recordBytes());
            }
        }
        segment.punchFound();
        files.counted(segment);
        // What was in them is nowhere, not even its name: no later start needs to hear of it.
        for (Map.Entry<Integer, Integer> gap : found.gaps().entrySet()) {
            var _ = files.kill(segment, gap.getKey(), gap.getValue(), checkpoints.epoch());
        }
    }

    private void adopt(SegmentFile segment, ChunkRecord record, boolean torn) throws IOException {
        ChunkLocation location =
                new ChunkLocation(
                        segment,
                        record.offset(),
                        record.recordBytes(),
                        record.dataBytes(),
                        record.shape(),
                        record.home());
        ChunkLocation other = table.location(record.key());
        if (other != null && (torn || other.isNewerThan(location))) {
            // It serves still, or already.
            var _ = files.kill(location, checkpoints.epoch());
            return;
        }
        table.replace(record.key(), location);
        if (other != null) {
            endOlder(record.key(), other);
        }
        if (torn) {
            table.corrupt().add(record.key());
        } else {
            table.corrupt().remove(record.key());
        }
    }

    /**
     * Or it might come back once the newer one is dead. Where the disk cannot read the page that
     * its end would be written to, it stays: later starts find the newer one as well.
     */
    private void endOlder(ChunkKey key, ChunkLocation older) throws IOException {
        try {
            var _ = files.kill(older, checkpoints.epoch());
        } catch (IOException e) {
            if (files.hasFailed() || Disk.isFull(e)) {
                throw e;
            }
            LOG.warn(
                    "an older record of chunk {} in {} at {} stays: {}",
                    key,
                    older.segment().path(),
                    older.offset(),
                    e.toString());
        }
    }
}
