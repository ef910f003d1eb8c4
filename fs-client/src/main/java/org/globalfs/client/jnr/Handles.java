package org.globalfs.client.jnr;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Open files and directories by the number that libfuse keeps for us ({@code fh}), because its
 * calls on open files tell neither path nor inode. Thread-safe.
 */
final class Handles {

    /** {@code handle} is the file system's. */
    record Open(long ino, long handle) {}

    private final ConcurrentMap<Long, Open> open = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong(1);

    long add(Open opened) {
        long number = next.getAndIncrement();
        open.put(number, opened);
        return number;
    }

    /** Null: never given out, or removed. */
    @Nullable Open find(long number) {
        return open.get(number);
    }

    void remove(long number) {
        open.remove(number);
    }

    /** Whether somebody has the inode open. */
    boolean holds(long ino) {
        return open.values().stream().anyMatch(each -> each.ino == ino);
    }
}
