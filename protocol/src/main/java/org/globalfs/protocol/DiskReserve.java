package org.globalfs.protocol;

import java.io.IOException;

/**
 * Free space that those who fill a disk leave on it, for those who empty it.
 *
 * @param bytes so much
 * @param percent but at most this part of the disk, so that a small one is of use too
 */
public record DiskReserve(long bytes, int percent) {

    /** So much on any disk. */
    public static DiskReserve exactly(long bytes) {
        return new DiskReserve(bytes, 100);
    }

    /** Bytes of this disk. */
    public long on(Disk disk) throws IOException {
        return Math.min(bytes, disk.sizeBytes() / 100 * percent);
    }
}
