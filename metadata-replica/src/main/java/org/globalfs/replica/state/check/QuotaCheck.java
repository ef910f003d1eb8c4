package org.globalfs.replica.state.check;

import java.util.Map;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/**
 * Checks quotas against inodes: usage is what the inodes add up to, quotas lie in each other
 * without a circle, and what lies in a directory counts in its tree, unless that is being counted.
 */
final class QuotaCheck {

    private final Records records;
    private final CheckReport report;
    private final Map<Long, Quota> quotas = new TreeMap<>();

    /** What the inodes add up to, by quota: inodes, bytes. */
    private final Map<Long, long[]> sums = new TreeMap<>();

    private final Map<Long, Long> children = new TreeMap<>();
    private boolean counting;

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
                        counting = true;
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
        if (inode.isDirectory() && inode.nlink > 0 && !counting && !quotas.isEmpty()) {
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
        if (there != around) {
            report.fault(
                    "directory %x counts in quota %x, but lies in a directory of %x",
                    directory.ino, around, there);
        }
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
