package org.globalfs.datastore.rocksdb;

import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/** Tells files that this user may not open from damaged ones. */
public final class Denial {
    private Denial() {}

    /** Null: something else is the matter with the database in this folder. */
    public static @Nullable AccessDeniedException of(Path folder, RocksDBException e) {
        // RocksDB tells it by the system's text alone.
        if (!String.valueOf(e.getMessage()).contains("Permission denied")) {
            return null;
        }
        AccessDeniedException denied = new AccessDeniedException(folder.toString());
        denied.initCause(e);
        return denied;
    }
}
