package org.globalfs.replica.state.operations;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What undecided coordinated operations hold in this partition. A copy in memory of what {@link
 * Prepared} records say: asked by every update, nearly always empty. A transaction may take the
 * same lock twice.
 */
public final class Locks {

    /** Something that can be held. */
    public sealed interface Lock {}

    /**
     * A name in a directory: nobody else may add, remove or repoint it; the directory cannot be
     * removed.
     */
    public record EntryLock(long parent, ByteBuffer name) implements Lock {
        public EntryLock(long parent, byte[] name) {
            this(parent, ByteBuffer.wrap(name));
        }
    }

    /** A directory must stay empty, or a file must stay in existence. */
    public record InodeLock(long ino) implements Lock {}

    /** An inode is about to live in another partition: nothing of it may change. */
    public record Leaving(long ino) implements Lock {}

    /** A part of a directory's entries is being copied ahead: everything may change. */
    public record Copying(long ino) implements Lock {}

    /** No directory of this partition may change its parent. */
    public record DirectoryMoves() implements Lock {}

    private static final DirectoryMoves MOVES = new DirectoryMoves();

    private final Map<Lock, Long> holders = new HashMap<>();
    private final Map<Long, Integer> entriesHeld = new HashMap<>();
    private int leaving;

    public boolean isEmpty() {
        return holders.isEmpty();
    }

    public boolean entry(long parent, byte[] name) {
        return !holders.isEmpty() && holders.containsKey(new EntryLock(parent, name));
    }

    /** Whether any name in the directory is held. */
    public boolean anyEntryOf(long directory) {
        return entriesHeld.containsKey(directory);
    }

    public boolean inode(long ino) {
        return !holders.isEmpty() && holders.containsKey(new InodeLock(ino));
    }

    /** Whether any inode is about to leave. */
    public boolean anyLeaving() {
        return leaving > 0;
    }

    public boolean leaving(long ino) {
        return leaving > 0 && holders.containsKey(new Leaving(ino));
    }

    public boolean copying(long ino) {
        return !holders.isEmpty() && holders.containsKey(new Copying(ino));
    }

    public boolean directoryMoves() {
        return !holders.isEmpty() && holders.containsKey(MOVES);
    }

    public @Nullable Long holder(Lock lock) {
        return holders.get(lock);
    }

    void hold(long transaction, Set<Lock> locks) {
        for (Lock lock : locks) {
            if (holders.put(lock, transaction) == null) {
                count(lock, 1);
            }
        }
    }

    void release(Set<Lock> locks) {
        for (Lock lock : locks) {
            if (holders.remove(lock) != null) {
                count(lock, -1);
            }
        }
    }

    private void count(Lock lock, int change) {
        switch (lock) {
            case EntryLock entry ->
                    entriesHeld.merge(
                            entry.parent(),
                            change,
                            (count, one) -> count + one == 0 ? null : count + one);
            case Leaving _ -> leaving += change;
            case InodeLock _, DirectoryMoves _, Copying _ -> {}
        }
    }
}
