package org.globalfs.protocol;

import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells whether a disk has more free than its reserve, and logs when that changes. It is full from
 * when less is free, until a sixteenth more is: a disk at its limit shall not be full and not full
 * in turns. Thread-safe.
 */
public final class DiskWatch {

    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);
    private static final int MARGIN_PART = 16;

    private final String owner;
    private final Path folder;
    private final Disk disk;
    private final long reservedBytes;
    private volatile long freeBytes;
    private volatile boolean full;

    /**
     * Before the first look the disk counts as not full.
     *
     * @param owner who uses the folder, for the log
     * @param reservedBytes what is to stay free
     */
    public DiskWatch(String owner, Path folder, Disk disk, long reservedBytes) {
        this.owner = owner;
        this.folder = folder;
        this.disk = disk;
        this.reservedBytes = reservedBytes;
    }

    /**
     * Asks how much is free.
     *
     * @param neededBytes what shall be taken now; the disk is full if the reserve would lack of it
     * @return bytes that may be taken without touching the reserve; 0 or less: none
     * @throws IOException the disk does not say
     */
    public synchronized long look(long neededBytes) throws IOException {
        long free = disk.freeBytes();
        freeBytes = free;
        if (!full && free - neededBytes < reservedBytes) {
            full = true;
            LOG.warn(
                    "{}: the disk of {} is full: {} MiB free, {} MiB are reserved. What needs room is refused"
                            + " (ENOSPC), what frees some is done: remove files, or enlarge the disk",
                    owner,
                    folder,
                    free >> 20,
                    reservedBytes >> 20);
        } else if (full && free - neededBytes >= reservedBytes + reservedBytes / MARGIN_PART) {
            full = false;
            LOG.info("{}: the disk of {} has room again: {} MiB free", owner, folder, free >> 20);
        }
        return free - reservedBytes;
    }

    /** Whether it was full at the last look. */
    public boolean isFull() {
        return full;
    }

    /** Bytes free at the last look. */
    public long freeBytes() {
        return freeBytes;
    }

    /** Bytes that are to stay free. */
    public long reservedBytes() {
        return reservedBytes;
    }
}
