package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.protocol.Disk;

/** A store on a disk that takes writes and brings none of them to rest, for other packages. */
public final class FailedDisk {
    private FailedDisk() {}

    /** What is written from now on is never synced. */
    public static SegmentStore open(Path folder, SegmentStore.Options options) throws IOException {
        FailingDisk disk = new FailingDisk();
        SegmentStore store = SegmentStore.open(folder, options, Disk.of(folder), disk);
        disk.failAfter(0);
        return store;
    }
}
