package org.globalfs.replica.state.operations;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.globalfs.replica.state.operations.Locks.EntryLock;
import org.globalfs.replica.state.operations.Locks.InodeLock;
import org.globalfs.replica.state.operations.Locks.Lock;

/**
 * What an undecided coordinated operation may change in a partition; nothing after a no.
 *
 * @param inodes those whose attributes it may change, and the directories of its names
 * @param entries names that it may make, remove or repoint
 * @param leaving inodes that it may take to another partition, which may change all of them then
 */
public record Held(Set<Long> inodes, Set<EntryLock> entries, Set<Long> leaving) {

    static Held of(Prepared share, Homes homes) {
        Set<Long> inodes = new HashSet<>();
        Set<EntryLock> entries = new HashSet<>();
        Set<Long> leaving = new HashSet<>();
        Facts facts = share.facts();
        if (facts.refusal() != 0) {
            return new Held(inodes, entries, leaving);
        }
        for (Lock lock : share.locks()) {
            switch (lock) {
                case EntryLock entry -> {
                    inodes.add(entry.parent());
                    entries.add(entry);
                }
                case InodeLock inode -> inodes.add(inode.ino());
                case Locks.Leaving gone -> {
                    inodes.add(gone.ino());
                    leaving.add(gone.ino());
                }
                case Locks.DirectoryMoves _, Locks.Copying _ -> {}
            }
        }
        if (facts.source() != null) {
            inodes.add(facts.source().ino());
        }
        if (facts.target() != null) {
            inodes.add(facts.target().ino());
        }
        facts.inodes().forEach(inode -> inodes.add(inode.ino()));
        inodes.removeIf(ino -> !homes.isHere(ino));
        return new Held(inodes, entries, leaving);
    }

    /** Whether it may change what a name points to. */
    public boolean hasName(long parent, ByteBuffer name) {
        return entries.contains(new EntryLock(parent, name));
    }
}
