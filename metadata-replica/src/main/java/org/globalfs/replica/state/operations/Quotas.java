package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Invariant;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/**
 * What trees with quotas use, and whether more fits.
 *
 * <p>An inode names the innermost quota of its tree; a new one takes its directory's. Usage follows
 * the inodes' records: whoever stores, adds or forgets one through {@link Tree} changes the usage
 * of its quota, and of all around that, by what the record changes. So usage is the sum over the
 * records, whatever an operation does; operations only ask beforehand whether it fits.
 *
 * <p>A quota that is cleared keeps its record, without limits, while inodes name it: they count for
 * its parent, which its own quotas get too. So clearing one costs nothing, and {@link #live} is
 * what an inode's quota stands for. All below a directory has the directory's live quota or one
 * below it, but for: what is still to be counted (adopted) after a quota was set; files with
 * several names, which count in one tree. A rename or link that would break this is EXDEV, as
 * between file systems.
 *
 * <p>A quota counts what lives in the partition of its root and is reached from there within that
 * partition: a directory of another one is where its tree ends. So no partition needs another's
 * usage, and what lives elsewhere may be given any name without a question here. What of a
 * coordinated operation changes usage is changed at its decision; from the vote on, the inode is
 * held, so that it stays what the vote was about, a whole that can change trees. A quota moves to
 * another partition with its directory ({@link Departure}): it ends in the one, so that what is
 * left of its tree counts for nothing there, and begins in the other as on a tree that is full
 * already ({@link Migration}). Room is found at the decision, in partition 0, which decides; a
 * region would have to keep it free from its vote to the import, and refuses with EXDEV instead
 * what would grow a quota of its own.
 */
public final class Quotas {

    private static final byte[] PENDING = Keys.of(0);

    private final MutableRecords records;

    Quotas(MutableRecords records) {
        this.records = records;
    }

    @Nullable Quota find(long id) {
        return find(records, id);
    }

    static @Nullable Quota find(Records records, long id) {
        byte[] value = id == 0 ? null : records.get(Table.QUOTA, Keys.of(id));
        return value == null ? null : Quota.decode(id, value);
    }

    Quota existing(long id) {
        Quota quota = find(id);
        Invariant.check(quota != null, "quota %x is missing", id);
        return Objects.requireNonNull(quota);
    }

    void store(Quota quota) {
        records.put(Table.QUOTA, Keys.of(quota.id), quota.encode());
    }

    /** Whether any tree has entries that are not counted yet. */
    public static boolean isAnyCounting(Records records) {
        return hasRow(records, PENDING);
    }

    static boolean isCounting(Records records, long id) {
        return hasRow(records, Keys.of(0, id));
    }

    boolean isCounting(long id) {
        return isCounting(records, id);
    }

    /** Whether a quota or one in it has entries that are not counted yet. */
    private boolean isAnyCountingIn(long outer) {
        for (long id = nextCounting(0); id != 0; id = nextCounting(id + 1)) {
            if (find(id) != null && isWithin(id, outer)) {
                return true;
            }
        }
        return false;
    }

    /** The first one from an id on that is being counted; 0: none. */
    private long nextCounting(long from) {
        long[] found = {0};
        records.scan(
                Table.QUOTA,
                PENDING,
                Keys.of(0, from),
                (key, value) -> {
                    found[0] = Keys.getLong(key, 8);
                    return false;
                });
        return found[0];
    }

    private static boolean hasRow(Records records, byte[] prefix) {
        boolean[] any = {false};
        records.scan(
                Table.QUOTA,
                prefix,
                prefix,
                (key, value) -> {
                    any[0] = true;
                    return false;
                });
        return any[0];
    }

    // ---------------------------------------------------------------- usage

    /** Before an inode's record is written. */
    void follow(Inode inode) {
        if (inode.quota == 0 && inode.countedIn == 0) {
            return;
        }
        long bytes = inode.allocated();
        boolean grows = !inode.isCounted() && bytes > inode.countedBytes;
        if (grows && find(inode.quota) != null) {
            inode.flags &= ~Inode.UNCOUNTED;
        }
        long now = inode.isCounted() ? inode.quota : 0;
        long before = inode.countedIn;
        if (now == before) {
            if (now != 0 && bytes != inode.countedBytes) {
                charge(now, 0, bytes - inode.countedBytes);
            }
        } else {
            if (before != 0) {
                charge(before, -1, -inode.countedBytes);
            }
            if (now != 0) {
                charge(now, 1, bytes);
            }
        }
        inode.countedIn = now;
        inode.countedBytes = bytes;
    }

    /** Before an inode's record is removed. */
    void forget(Inode inode) {
        if (inode.countedIn != 0) {
            charge(inode.countedIn, -1, -inode.countedBytes);
            inode.countedIn = 0;
        }
    }

    /** An inode without a name gets one again. */
    void recount(Inode inode) {
        inode.flags &= ~Inode.UNCOUNTED;
        if (find(inode.quota) == null) {
            inode.quota = 0;
        }
    }

    /** Adds to a quota and all around it. */
    void charge(long id, long inodes, long bytes) {
        long at = id;
        while (at != 0) {
            Quota quota = existing(at);
            quota.usedInodes += inodes;
            quota.usedBytes += bytes;
            Invariant.check(
                    quota.usedInodes >= 0 && quota.usedBytes >= 0,
                    "quota %x counts %s inodes and %s bytes",
                    at,
                    quota.usedInodes,
                    quota.usedBytes);
            at = quota.parent;
            keep(quota);
        }
    }

    /** Stores a quota; a cleared one that no inode names any more goes. */
    void keep(Quota quota) {
        if (!quota.cleared || quota.usedInodes > 0) {
            store(quota);
            return;
        }
        records.delete(Table.QUOTA, Keys.of(quota.id));
        if (quota.parent != 0) {
            Quota parent = existing(quota.parent);
            parent.children--;
            store(parent);
        }
    }

    // ---------------------------------------------------------------- trees

    /** The quota that this one stands for: itself, or what is around a cleared one; 0: none. */
    long live(long id) {
        Quota quota = find(id);
        return quota == null ? 0 : quota.cleared ? quota.parent : id;
    }

    /** The quota that an inode was set on, if any. */
    @Nullable Quota ownOf(Inode inode) {
        Quota quota = inode.isDirectory() ? find(inode.quota) : null;
        return quota != null && quota.isOf(inode) ? quota : null;
    }

    /** The quota of the tree that an inode's name lies in: a quota of its own moves with it. */
    private long around(Inode inode) {
        Quota own = ownOf(inode);
        return own == null ? live(inode.quota) : own.parent;
    }

    /** Whether a quota, or one around it, is like that; cleared ones are none. */
    boolean anyAround(long id, Predicate<Quota> like) {
        for (long at = live(id); at != 0; ) {
            Quota quota = existing(at);
            if (like.test(quota)) {
                return true;
            }
            at = quota.parent;
        }
        return false;
    }

    /** Whether one quota is another or around it; 0 is around all. */
    boolean isWithin(long id, long outer) {
        long at = id;
        while (at != 0 && at != outer) {
            at = existing(at).parent;
        }
        return at == outer;
    }

    /** Whether so much fits that does not count in {@code from}, nor in what is around that. */
    boolean fits(long id, long from, long inodes, long bytes) {
        for (long at = id; at != 0; ) {
            if (from != 0 && isWithin(from, at)) {
                return true;
            }
            Quota quota = existing(at);
            if (!quota.fits(inodes, bytes)) {
                return false;
            }
            at = quota.parent;
        }
        return true;
    }

    private @Nullable Errno unlessFits(long id, long from, long inodes, long bytes) {
        return fits(id, from, inodes, bytes) ? null : Errno.EDQUOT;
    }

    // ---------------------------------------------------------------- checks

    /** Why a directory's tree can have no further inode. */
    @Nullable Errno refusesInode(Inode directory) {
        return directory.quota == 0 ? null : unlessFits(live(directory.quota), 0, 1, 0);
    }

    /**
     * Whether a file may grow.
     *
     * @param atMost bytes; what is exact is only asked for when so much does not fit
     */
    boolean mayGrow(Inode file, long atMost, LongSupplier exactly) {
        if (file.quota == 0 || atMost <= 0 || find(file.quota) == null) {
            return true;
        }
        return fitsGrown(file, atMost) || fitsGrown(file, exactly.getAsLong());
    }

    private boolean fitsGrown(Inode file, long bytes) {
        long after = Inode.allocated(file.stored + bytes);
        if (bytes <= 0) {
            return true;
        }
        return file.isCounted()
                ? fits(file.quota, 0, 0, after - file.allocated())
                : fits(file.quota, 0, 1, after);
    }

    /**
     * Why an inode may not go from one directory to another.
     *
     * @param inode null: it lives in another partition, where neither directory counts
     */
    @Nullable Errno refusesMove(@Nullable Inode inode, Inode from, Inode to, boolean exchange) {
        if (inode == null || from.ino == to.ino) {
            return null;
        }
        long there = live(to.quota);
        if (around(inode) == there) {
            return null;
        }
        boolean sameTree = !inode.isDirectory() && live(from.quota) == there;
        return exchange || !sameTree && !isWhole(inode) ? Errno.EXDEV : unlessFits(inode, there);
    }

    /**
     * Whether all that would count elsewhere if the inode did is known to go along with it. What a
     * quota in its own has still to count names the one that counted it before, and is found only
     * as long as that is around.
     */
    private boolean isWhole(Inode inode) {
        if (!inode.isDirectory()) {
            return inode.nlink == 1;
        }
        Quota own = ownOf(inode);
        return own == null ? inode.entries == 0 : !isAnyCountingIn(own.id);
    }

    private @Nullable Errno unlessFits(Inode inode, long there) {
        Quota own = ownOf(inode);
        long here = around(inode);
        return own == null
                ? unlessFits(there, here, 1, inode.allocated())
                : unlessFits(there, here, own.usedInodes, own.usedBytes);
    }

    /** Whether an inode gets another quota when its name gets into that directory. */
    boolean changesTree(Inode inode, @Nullable Inode to) {
        return around(inode) != liveOf(to);
    }

    /** What counts what is new in a directory; null: one of another partition. */
    private long liveOf(@Nullable Inode directory) {
        return directory == null ? 0 : live(directory.quota);
    }

    /**
     * After {@link #refusesMove} or {@link #refusesAcross} allowed it; the caller stores the inode.
     *
     * @param to null: a directory of another partition
     */
    void move(Inode inode, @Nullable Inode to) {
        long there = liveOf(to);
        if (around(inode) == there) {
            return;
        }
        Quota own = ownOf(inode);
        if (own == null) {
            inode.quota = there;
        } else {
            putInto(own, there);
        }
    }

    /** Why an inode of this partition may not get one more name, in a directory of it. */
    @Nullable Errno refusesLink(Inode inode, Inode to) {
        long there = live(to.quota);
        long here = live(inode.quota);
        if (here == there) {
            return null;
        }
        boolean beingCounted = isCounting(there) && isWithin(there, here);
        return inode.nlink == 0 || beingCounted
                ? unlessFits(there, here, 1, inode.allocated())
                : Errno.EXDEV;
    }

    /** After {@link #refusesLink} allowed it; the caller stores the inode. */
    void link(Inode inode, Inode to) {
        if (live(inode.quota) != live(to.quota)) {
            inode.quota = live(to.quota);
        }
    }

    /**
     * Why a coordinated operation may not let an inode of this partition go to a directory.
     *
     * @param to null: a directory of another partition
     * @param decides whether this is partition 0, where room that there is when the operation is
     *     decided cannot be gone when it takes effect
     */
    @Nullable Errno refusesAcross(
            Inode inode, @Nullable Inode to, boolean exchange, boolean decides) {
        long there = liveOf(to);
        if (around(inode) == there) {
            return null;
        }
        if (exchange || !isWhole(inode)) {
            return Errno.EXDEV;
        }
        return decides || isWithin(around(inode), there) ? unlessFits(inode, there) : Errno.EXDEV;
    }

    /** Why an inode of this partition may not get one more name by a coordinated operation. */
    @Nullable Errno refusesLinkAcross(Inode inode, @Nullable Inode to) {
        return changesTree(inode, to) ? Errno.EXDEV : null;
    }

    // ---------------------------------------------------------------- arrivals

    /** Before a directory that comes from another partition is stored; no quota counts it yet. */
    void arrive(Inode directory, @Nullable Inode parent) {
        directory.quota = liveOf(parent);
    }

    /** What is in a directory is to be counted by what counts the directory. */
    void countEntries(Inode directory) {
        if (directory.quota != 0 && directory.entries > 0) {
            countLater(directory.quota, directory.ino);
        }
    }

    /** A directory's entries are to be looked at, from the first on. */
    void countLater(long id, long directory) {
        records.put(Table.QUOTA, Keys.of(0, id, directory), AdoptQuota.position(0));
    }

    /**
     * A name that the walk may have come by leads to another inode, which it may not have met: when
     * that had its name further behind in the same directory.
     */
    void lookAgain(Inode directory, long cookie) {
        if (directory.quota == 0) {
            return;
        }
        byte[] key = Keys.of(0, live(directory.quota), directory.ino);
        byte[] position = records.get(Table.QUOTA, key);
        if (position != null && AdoptQuota.cookie(position) >= cookie) {
            records.put(Table.QUOTA, key, AdoptQuota.position(cookie - 1));
        }
    }

    /** Something came to live here, and nobody knows in which directory. */
    void countAllAgain() {
        List<Quota> live = new ArrayList<>();
        records.scan(
                Table.QUOTA,
                Keys.none(),
                Keys.of(1),
                (key, value) -> {
                    Quota quota = Quota.decode(Keys.getLong(key, 0), value);
                    return quota.cleared || live.add(quota);
                });
        live.forEach(quota -> countLater(quota.id, quota.root));
    }

    // ---------------------------------------------------------------- changes of quotas

    /**
     * Gives a directory's tree limits; what is in it already is counted afterwards. The caller
     * stores the directory.
     *
     * @param id of the new quota
     */
    void begin(long id, Inode directory, long bytes, long inodes) {
        Quota quota = new Quota(id, directory.ino);
        quota.limitBytes = bytes;
        quota.limitInodes = inodes;
        quota.parent = live(directory.quota);
        store(quota);
        adoptedBy(quota.parent, 1);
        directory.quota = id;
        countEntries(directory);
    }

    /** Lets a quota lie in another one. */
    void putInto(Quota quota, long parent) {
        long before = quota.parent;
        quota.parent = parent;
        store(quota);
        adoptedBy(before, -1);
        charge(before, -quota.usedInodes, -quota.usedBytes);
        adoptedBy(parent, 1);
        charge(parent, quota.usedInodes, quota.usedBytes);
    }

    void adoptedBy(long parent, long children) {
        if (parent != 0) {
            Quota quota = existing(parent);
            quota.children += children;
            store(quota);
        }
    }

    /** Takes a tree's limits away: its inodes and quotas count for what is around it. */
    void clear(Quota quota) {
        if (quota.children > 0) {
            releaseChildren(quota);
        }
        releasePending(quota);
        quota.cleared = true;
        quota.limitBytes = 0;
        quota.limitInodes = 0;
        keep(quota);
    }

    private void releaseChildren(Quota quota) {
        records.scan(
                Table.QUOTA,
                Keys.none(),
                Keys.of(1),
                (key, value) -> {
                    Quota child = Quota.decode(Keys.getLong(key, 0), value);
                    if (child.parent == quota.id) {
                        child.parent = quota.parent;
                        store(child);
                        quota.usedInodes -= child.usedInodes;
                        quota.usedBytes -= child.usedBytes;
                        adoptedBy(quota.parent, 1);
                    }
                    return true;
                });
        quota.children = 0;
    }

    /** What it had not counted yet, the one around it may not have either. */
    private void releasePending(Quota quota) {
        byte[] prefix = Keys.of(0, quota.id);
        records.scan(
                Table.QUOTA,
                prefix,
                prefix,
                (key, value) -> {
                    records.delete(Table.QUOTA, key);
                    if (quota.parent != 0) {
                        byte[] handed = Keys.of(0, quota.parent, Keys.getLong(key, 16));
                        records.put(Table.QUOTA, handed, AdoptQuota.position(0));
                    }
                    return true;
                });
    }

    /** A directory lost its name, or lives elsewhere: its quota ends. */
    void end(Inode directory) {
        Quota own = ownOf(directory);
        if (own != null) {
            clear(own);
        }
    }
}
