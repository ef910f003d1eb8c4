package org.globalfs.replica.state.operations;

import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongPredicate;
import org.globalfs.protocol.Invariant;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Inodes and directory entries of one partition, and the changes that keep them consistent with
 * each other: link counts, entry counts, both orders of a directory's entries, orphans.
 */
public final class Tree {

    /** Cookies 1 and 2 are left to "." and "..". */
    public static final long FIRST_COOKIE = 3;

    /** In place of the time since which an inode is an orphan, and before any. */
    static final long BEING_COLLECTED = Long.MIN_VALUE;

    private final MutableRecords records;
    private final Counters counters;
    private final Quotas quotas;
    private final Homes homes;
    private final Copies copies;
    private final Staging staging;

    public Tree(MutableRecords records, Counters counters) {
        this.records = records;
        this.counters = counters;
        this.quotas = new Quotas(records);
        this.homes = new Homes(records, counters);
        this.copies = new Copies(records, counters);
        this.staging = new Staging(records);
    }

    public Quotas quotas() {
        return quotas;
    }

    Copies copies() {
        return copies;
    }

    Staging staging() {
        return staging;
    }

    public int partition() {
        return counters.partition;
    }

    public Homes homes() {
        return homes;
    }

    /** Where an inode lives, or who knows: see {@link Homes#of}. */
    public int home(long ino) {
        return homes.of(ino);
    }

    public boolean isHere(long ino) {
        return homes.isHere(ino);
    }

    public @Nullable Inode inode(long ino) {
        return inode(records, ino);
    }

    /** Null: there is none, or it is being collected and has lost a part of its content. */
    public static @Nullable Inode inode(Records records, long ino) {
        Inode inode = stored(records, ino);
        return inode != null && inode.nlink == 0 && isBeingCollected(records, ino) ? null : inode;
    }

    private static @Nullable Inode stored(Records records, long ino) {
        byte[] value = records.get(Table.INODE, Keys.of(ino));
        return value == null ? null : Inode.decode(ino, value);
    }

    private static boolean isBeingCollected(Records records, long ino) {
        byte[] orphan = records.get(Table.ORPHAN, Keys.of(ino));
        return orphan != null && orphanedAtNs(orphan) == BEING_COLLECTED;
    }

    public @Nullable Dentry dentry(long parent, byte[] name) {
        return dentry(records, parent, name);
    }

    public static @Nullable Dentry dentry(Records records, long parent, byte[] name) {
        byte[] value = records.get(Table.DENTRY, Keys.of(parent, name));
        return value == null ? null : Dentry.decode(value);
    }

    /** An inode that the caller knows to exist, in whole or in part. */
    public Inode existing(long ino) {
        Inode inode = stored(records, ino);
        Invariant.check(inode != null, "inode %x is missing", ino);
        return Objects.requireNonNull(inode);
    }

    public void store(Inode inode) {
        quotas.follow(inode);
        records.put(Table.INODE, Keys.of(inode.ino), inode.encode());
    }

    /** Number of the next inode born here. */
    public long newIno() {
        return Partitions.ino(counters.partition, counters.nextInode++);
    }

    /** Number of the next inode that partition 0 makes in another partition's name. */
    public long newInoOf(int partition) {
        long counter = counters.given.merge(partition, 1L, Long::sum);
        return Partitions.ino(partition, Partitions.GIVEN_BY_GLOBAL | counter);
    }

    /** Stores a new inode. */
    public void add(Inode inode) {
        counters.inodes++;
        store(inode);
    }

    /** Forgets an inode that has no name and no content left. */
    public void forget(Inode inode) {
        counters.inodes--;
        quotas.forget(inode);
        if (inode.xattrNames > 0) {
            Xattrs.erase(records, inode);
        }
        records.delete(Table.INODE, Keys.of(inode.ino));
        if (Partitions.ofBirth(inode.ino) != counters.partition) {
            counters.adopted--;
            new Notices(records, counters).forget(inode.ino);
        }
        byte[] foreign = Keys.of(inode.ino);
        if (counters.foreign > 0 && records.get(Table.FOREIGN, foreign) != null) {
            counters.foreign--;
            records.delete(Table.FOREIGN, foreign);
        }
    }

    /** Adds a name that must not exist and stores the directory. */
    public void addEntry(Inode parent, byte[] name, long ino, int type, long nowNs) {
        Dentry dentry = new Dentry(ino, type, parent.nextCookie++);
        parent.entries++;
        if (type == Mode.DIRECTORY) {
            parent.nlink++;
        }
        put(parent.ino, name, dentry);
        parent.modified(nowNs);
        store(parent);
    }

    /** Removes a name and stores the directory. */
    public void removeEntry(Inode parent, byte[] name, Dentry dentry, long nowNs) {
        parent.entries--;
        if (dentry.type() == Mode.DIRECTORY) {
            parent.nlink--;
        }
        copies.changed(parent.ino, name);
        records.delete(Table.DENTRY, Keys.of(parent.ino, name));
        records.delete(Table.COOKIE, Keys.of(parent.ino, dentry.cookie()));
        parent.modified(nowNs);
        store(parent);
    }

    /**
     * Lets a name point to another inode, in the same place of readdir's order, and stores the
     * directory.
     */
    public void repoint(Inode parent, byte[] name, Dentry old, long ino, int type, long nowNs) {
        parent.nlink += (type == Mode.DIRECTORY ? 1 : 0) - (old.type() == Mode.DIRECTORY ? 1 : 0);
        put(parent.ino, name, new Dentry(ino, type, old.cookie()));
        quotas.lookAgain(parent, old.cookie());
        parent.modified(nowNs);
        store(parent);
    }

    private void put(long parent, byte[] name, Dentry dentry) {
        copies.changed(parent, name);
        records.put(Table.DENTRY, Keys.of(parent, name), dentry.encode());
        records.put(Table.COOKIE, Keys.of(parent, dentry.cookie()), dentry.encodeByCookie(name));
    }

    /** Takes one name from an inode and stores it; without any left it becomes an orphan. */
    public void dropLink(Inode inode, long nowNs) {
        inode.nlink = inode.isDirectory() ? 0 : inode.nlink - 1;
        inode.changed(nowNs);
        if (inode.nlink == 0 && inode.quota != 0) {
            quotas.end(inode);
            inode.flags |= Inode.UNCOUNTED;
        }
        store(inode);
        if (inode.nlink == 0) {
            orphan(inode.ino, nowNs);
        }
    }

    /** The inode has no name from now on. */
    public void orphan(long ino, long nowNs) {
        counters.orphans++;
        orphaned(ino, nowNs);
    }

    /** Its collection has begun: nobody gets it any more, whoever has it open. */
    void beginCollecting(long ino) {
        orphaned(ino, BEING_COLLECTED);
    }

    private void orphaned(long ino, long sinceNs) {
        records.put(Table.ORPHAN, Keys.of(ino), new Packer(10).u8(1).i64(sinceNs).done());
    }

    /** Gives an inode one more name and stores it. */
    public void addLink(Inode inode, long nowNs) {
        if (inode.nlink == 0) {
            unorphan(inode.ino);
            inode.flags &= ~Inode.LINKABLE;
            quotas.recount(inode);
        }
        inode.nlink++;
        inode.changed(nowNs);
        store(inode);
    }

    public void unorphan(long ino) {
        counters.orphans--;
        records.delete(Table.ORPHAN, Keys.of(ino));
    }

    /** Since when an orphan, or {@link #BEING_COLLECTED}, from a value of {@link Table#ORPHAN}. */
    public static long orphanedAtNs(byte[] value) {
        return new Unpacker(value).version(1, "orphan").i64();
    }

    /**
     * What a walk up the parents met before it left this partition.
     *
     * @param exit the first directory of another partition; 0 when there is none: the walk ended at
     *     the root, or at a directory that was removed and therefore has nothing in it
     */
    public record Climb(long exit, boolean meetsFirst, boolean meetsSecond) {}

    /** Walks from a directory of this partition, which counts too, up its parents. */
    public Climb climb(long from, long first, long second) {
        boolean meetsFirst = false;
        boolean meetsSecond = false;
        long at = from;
        while (isHere(at)) {
            meetsFirst |= at == first;
            meetsSecond |= at == second;
            Inode inode = at == Partitions.ROOT ? null : inode(at);
            if (inode == null || inode.nlink == 0) {
                return new Climb(0, meetsFirst, meetsSecond);
            }
            at = inode.parent;
        }
        return new Climb(at, meetsFirst, meetsSecond);
    }

    /** Whether one of a directory and its parents, as far as they are here, is like that. */
    public boolean anyAbove(long from, LongPredicate like) {
        long at = from;
        while (isHere(at) && at != Partitions.ROOT) {
            if (like.test(at)) {
                return true;
            }
            Inode inode = inode(at);
            if (inode == null || inode.nlink == 0) {
                return false;
            }
            at = inode.parent;
        }
        return false;
    }

    /**
     * Whether {@code directory} is {@code below} or an ancestor of it, as far as the chain of
     * parents stays here.
     */
    public boolean isAncestor(long directory, long below) {
        return isHere(below) && climb(below, directory, 0).meetsFirst();
    }

    /**
     * How many directories of partition 0 lie in regional ones, and how many more were born there
     * and live in regional partitions, as not everybody knows. While there are none, the parents of
     * a directory that was born in partition 0 are all in it.
     */
    public long globalBelow() {
        return counters.globalBelow;
    }

    public void setGlobalBelow(long count) {
        counters.globalBelow = count;
    }

    /** Partition 0: directories may come to lie in that partition. */
    public void reckonWith(int partition) {
        counters.given.putIfAbsent(partition, 0L);
    }

    /** Partition 0: all others that directories were ever made in, or moved to. */
    public Set<Integer> others() {
        return Collections.unmodifiableSet(counters.given.keySet());
    }
}
