package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;

/**
 * Counts, a part at a time, what was in a tree before it got its quota. Every directory whose
 * entries are still to be looked at has a row, with the cookie of the last entry done: a directory
 * that is counted names the quota, so that what is new in it is counted from the start, and no
 * rename takes anything uncounted to where the walk came by. Limits do not stop it.
 */
public final class AdoptQuota {

    private static final int FORMAT = 1;

    /** Rows looked at for one that no coordinated operation holds. */
    private static final int ROWS = 64;

    private final MutableRecords records;
    private final Tree tree;
    private final Quotas quotas;
    private final Locks locks;

    AdoptQuota(MutableRecords records, Tree tree, Locks locks) {
        this.records = records;
        this.tree = tree;
        this.quotas = tree.quotas();
        this.locks = locks;
    }

    /** The value of a row. */
    static byte[] position(long cookie) {
        return new Packer(10).u8(FORMAT).varint(cookie).done();
    }

    /** The last entry done, by the value of a row. */
    public static long cookie(byte[] value) {
        return new Unpacker(value).version(FORMAT, "position of a count").varint();
    }

    private record Row(byte[] key, long cookie) {
        long quota() {
            return Keys.getLong(key, 8);
        }

        long directory() {
            return Keys.getLong(key, 16);
        }
    }

    private record Named(long cookie, Dentry dentry) {}

    /** Looks at so many entries, or nearly. */
    void execute(int limit) {
        int left = limit;
        while (left > 0) {
            List<Row> rows = rows();
            int before = left;
            for (Row row : rows) {
                left -= left > 0 ? advance(row, left) : 0;
            }
            if (rows.isEmpty() || left == before) {
                return;
            }
        }
    }

    private List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        records.scan(
                Table.QUOTA,
                Keys.of(0),
                Keys.of(0),
                (key, value) -> {
                    rows.add(new Row(key, cookie(value)));
                    return rows.size() < ROWS;
                });
        return rows;
    }

    /** Returns what it cost; 0: nothing could be done. */
    private int advance(Row row, int limit) {
        Inode directory = tree.inode(row.directory());
        Quota quota = quotas.find(row.quota());
        boolean obsolete =
                directory == null
                        || directory.nlink == 0
                        || quota == null
                        || quotas.live(directory.quota) != quota.id;
        if (obsolete || directory == null || quota == null) {
            records.delete(Table.QUOTA, row.key);
            return 1;
        }
        if (isHeld(directory.ino)) {
            return 0;
        }
        List<Named> entries = entries(directory.ino, row.cookie, limit);
        long done = row.cookie;
        int cost = 0;
        for (Named entry : entries) {
            if (!adopt(quota.id, entry.dentry)) {
                break;
            }
            done = entry.cookie;
            cost++;
        }
        if (cost == entries.size() && entries.size() < limit) {
            records.delete(Table.QUOTA, row.key);
            return cost + 1;
        }
        if (cost > 0) {
            records.put(Table.QUOTA, row.key, position(done));
        }
        return cost;
    }

    /** What is on its way into or out of it was allowed by the quota that it has now. */
    private boolean isHeld(long directory) {
        return locks.inode(directory) || locks.anyEntryOf(directory);
    }

    private List<Named> entries(long directory, long after, int limit) {
        List<Named> entries = new ArrayList<>();
        records.scan(
                Table.COOKIE,
                Keys.of(directory),
                Keys.of(directory, after + 1),
                (key, value) -> {
                    long cookie = Keys.getLong(key, 8);
                    entries.add(new Named(cookie, Dentry.decodeByCookie(cookie, value).dentry()));
                    return entries.size() < limit;
                });
        return entries;
    }

    /** False: not now. */
    private boolean adopt(long quota, Dentry dentry) {
        Inode inode = tree.isHere(dentry.ino()) ? tree.inode(dentry.ino()) : null;
        if (inode == null) {
            return true;
        }
        if (locks.leaving(inode.ino) || locks.inode(inode.ino)) {
            return false;
        }
        Quota own = quotas.ownOf(inode);
        if (own != null) {
            if (own.parent != quota && quotas.isWithin(quota, own.parent)) {
                quotas.putInto(own, quota);
            }
            return true;
        }
        if (inode.isDirectory() && isHeld(inode.ino)) {
            return false;
        }
        long before = quotas.live(inode.quota);
        if (before != quota && quotas.isWithin(quota, before)) {
            inode.quota = quota;
            tree.store(inode);
        }
        if (inode.isDirectory() && inode.entries > 0) {
            quotas.countLater(quota, inode.ino);
        }
        return true;
    }
}
