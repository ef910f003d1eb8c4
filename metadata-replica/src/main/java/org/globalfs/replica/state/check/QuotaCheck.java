package org.globalfs.replica.state.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.operations.AdoptQuota;
import org.jspecify.annotations.Nullable;

/**
 * Checks quotas against inodes: usage is what the inodes add up to, quotas lie in each other
 * without a circle, and what lies in a directory counts in its tree, unless it is still to be met
 * by the walk that counts what was there before.
 */
final class QuotaCheck {

    private final Records records;
    private final CheckReport report;
    private final Map<Long, Quota> quotas = new TreeMap<>();

    /** What the inodes add up to, by quota: inodes, bytes. */
    private final Map<Long, long[]> sums = new TreeMap<>();

    private final Map<Long, Long> children = new TreeMap<>();

    /** By directory and quota: the last entry that the quota has counted of it. */
    private final Map<Walk, Long> walks = new HashMap<>();

    /** Those met: the inodes behind that entry. */
    private final Map<Walk, Set<Long>> ahead = new HashMap<>();

    private record Walk(long directory, long quota) {}

    QuotaCheck(Records records, CheckReport report) {
        this.records = records;
        this.report = report;
    }

    void run() {
        records.scan(
                Table.QUOTA,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    if (key.length == Long.BYTES) {
                        Quota quota = Quota.decode(Keys.getLong(key, 0), value);
                        quotas.put(quota.id, quota);
                    } else {
                        Walk walk = new Walk(Keys.getLong(key, 16), Keys.getLong(key, 8));
                        walks.put(walk, AdoptQuota.cookie(value));
                    }
                    return true;
                });
        quotas.values().forEach(this::placed);
        records.scan(
                Table.INODE,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    inode(Inode.decode(Keys.getLong(key, 0), value));
                    return true;
                });
        quotas.values().forEach(this::totals);
    }

    private @Nullable Inode inode(long ino) {
        byte[] value = records.get(Table.INODE, Keys.of(ino));
        return value == null ? null : Inode.decode(ino, value);
    }

    private void placed(Quota quota) {
        if (quota.parent != 0) {
            children.merge(quota.parent, 1L, Long::sum);
            Quota parent = quotas.get(quota.parent);
            if (parent == null || parent.cleared) {
                report.fault("quota %x lies in quota %x, which is none", quota.id, quota.parent);
            }
        }
        Inode root = quota.cleared ? null : inode(quota.root);
        if (!quota.cleared && (root == null || root.quota != quota.id)) {
            report.fault("quota %x is not that of its directory %x", quota.id, quota.root);
        }
        int steps = 0;
        Quota at = quota;
        while (at != null && at.parent != 0) {
            if (steps++ > quotas.size()) {
                report.fault("quota %x lies in itself", quota.id);
                quotas.values().forEach(each -> each.parent = 0);
                return;
            }
            at = quotas.get(at.parent);
        }
    }

    private void inode(Inode inode) {
        if (inode.quota == 0 && !inode.isDirectory()) {
            return;
        }
        if (inode.isCounted()) {
            if (!quotas.containsKey(inode.quota)) {
                report.fault("inode %x names quota %x, which is none", inode.ino, inode.quota);
            }
            Quota at = quotas.get(inode.quota);
            while (at != null) {
                long[] sum = sums.computeIfAbsent(at.id, id -> new long[2]);
                sum[0]++;
                sum[1] += inode.allocated();
                at = quotas.get(at.parent);
            }
        }
        if (inode.isDirectory() && inode.nlink > 0 && !quotas.isEmpty()) {
            lies(inode);
        }
    }

    private long live(long id) {
        Quota quota = quotas.get(id);
        return quota == null ? 0 : quota.cleared ? quota.parent : id;
    }

    private void lies(Inode directory) {
        Quota own = quotas.get(directory.quota);
        long around = own != null && own.isOf(directory) ? own.parent : live(directory.quota);
        Inode parent = directory.ino == Partitions.ROOT ? null : inode(directory.parent);
        long there = parent == null ? 0 : live(parent.quota);
        if (there != around && !isToBeCounted(directory, around, there)) {
            report.fault(
                    "directory %x counts in quota %x, but lies in a directory of %x",
                    directory.ino, around, there);
        }
    }

    /** Whether the walk through the parent's entries is still to come by, and will count it. */
    private boolean isToBeCounted(Inode directory, long around, long there) {
        Walk walk = new Walk(directory.parent, there);
        Long done = walks.get(walk);
        return done != null
                && isWithin(there, around)
                && ahead.computeIfAbsent(walk, at -> ahead(at.directory, done))
                        .contains(directory.ino);
    }

    private boolean isWithin(long id, long outer) {
        long at = id;
        while (at != 0 && at != outer) {
            Quota quota = quotas.get(at);
            at = quota == null ? 0 : quota.parent;
        }
        return at == outer;
    }

    private Set<Long> ahead(long directory, long done) {
        Set<Long> inodes = new HashSet<>();
        records.scan(
                Table.COOKIE,
                Keys.of(directory),
                Keys.of(directory, done + 1),
                (key, value) -> {
                    Dentry dentry = Dentry.decodeByCookie(Keys.getLong(key, 8), value).dentry();
                    return dentry.type() != Mode.DIRECTORY || inodes.add(dentry.ino());
                });
        return inodes;
    }

    private void totals(Quota quota) {
        long[] sum = sums.getOrDefault(quota.id, new long[2]);
        if (sum[0] != quota.usedInodes || sum[1] != quota.usedBytes) {
            report.fault(
                    "quota %x has %d inodes of %d bytes, but counts %d of %d",
                    quota.id, sum[0], sum[1], quota.usedInodes, quota.usedBytes);
        }
        long below = children.getOrDefault(quota.id, 0L);
        if (below != quota.children) {
            report.fault(
                    "quota %x has %d quotas in it, but counts %d", quota.id, below, quota.children);
        }
    }
}
