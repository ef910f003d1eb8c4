package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/** Carries out what was decided of inodes that move between partitions. */
final class Migration {

    private final MutableRecords records;
    private final Counters counters;
    private final Tree tree;
    private final Content content;
    private final Loans loans;
    private final Notices notices;

    Migration(MutableRecords records, Counters counters, Tree tree, Content content) {
        this.records = records;
        this.counters = counters;
        this.tree = tree;
        this.content = content;
        this.loans = new Loans(records, counters);
        this.notices = new Notices(records, counters);
    }

    /** Takes the inodes' records away; they were held since the cargo was loaded. */
    void depart(Effect.Depart effect) {
        Map<BlockRef, Integer> blocks = blocks();
        for (long ino : effect.inodes()) {
            Inode inode = tree.existing(ino);
            counters.inodes--;
            counters.bytes -= inode.stored;
            tree.quotas().forget(inode);
            tree.quotas().end(inode);
            if (inode.extents > 0) {
                pieces(ino, blocks);
                erase(Table.EXTENT, ino);
            }
            if (inode.xattrNames > 0) {
                erase(Table.XATTR, ino);
            }
            if (inode.isDirectory()) {
                if (tree.copies().finish(ino)) {
                    tree.staging().leave(ino);
                } else {
                    erase(Table.DENTRY, ino);
                    erase(Table.COOKIE, ino);
                }
            }
            records.delete(Table.INODE, Keys.of(ino));
            if (Partitions.ofBirth(ino) != counters.partition) {
                counters.adopted--;
            }
            forward(ino, effect.to(), inode.isDirectory());
        }
        loans.lend(content, blocks, effect.to());
    }

    /** Everywhere in the same order. */
    private static Map<BlockRef, Integer> blocks() {
        return new TreeMap<>(
                Comparator.comparingLong(BlockRef::getIdHigh)
                        .thenComparingLong(BlockRef::getIdLow));
    }

    private void pieces(long ino, Map<BlockRef, Integer> blocks) {
        records.scan(
                Table.EXTENT,
                Keys.of(ino),
                Keys.of(ino),
                (key, value) -> {
                    BlockRef block = Piece.decode(Keys.getLong(key, 8), value).block();
                    if (block != null) {
                        blocks.merge(block, 1, Integer::sum);
                    }
                    return true;
                });
    }

    private void erase(Table table, long ino) {
        List<byte[]> keys = new ArrayList<>();
        records.scan(table, Keys.of(ino), Keys.of(ino), (key, value) -> keys.add(key));
        keys.forEach(key -> records.delete(table, key));
    }

    /** Adds what departed elsewhere. */
    void arrive(byte[] bytes) {
        Map<BlockRef, Integer> blocks = blocks();
        Cargo cargo = Cargo.decode(bytes);
        List<Cargo.Item> items = cargo.items();
        Map<Long, Cargo.Limits> limits = new HashMap<>();
        cargo.limits().forEach(each -> limits.put(each.directory(), each));
        Staging staging = tree.staging();
        cargo.parts().forEach(staging::take);
        for (Cargo.Item item : items) {
            Inode inode = Inode.decode(item.ino(), item.inode());
            counters.inodes++;
            counters.bytes += inode.stored;
            if (Partitions.ofBirth(inode.ino) != counters.partition) {
                counters.adopted++;
            }
            forward(inode.ino, counters.partition, false);
            if (inode.isDirectory()) {
                staging.settle(inode.ino, cargo.brings(inode.ino));
                arrive(inode, limits.get(inode.ino));
            }
            tree.store(inode);
            extents(item, blocks);
            for (Cargo.Named xattr : item.xattrs()) {
                records.put(Table.XATTR, Keys.of(inode.ino, xattr.name()), xattr.value());
            }
            for (Cargo.Named entry : item.entries()) {
                Dentry dentry = Dentry.decode(entry.value());
                records.put(Table.DENTRY, Keys.of(inode.ino, entry.name()), entry.value());
                records.put(
                        Table.COOKIE,
                        Keys.of(inode.ino, dentry.cookie()),
                        dentry.encodeByCookie(entry.name()));
            }
        }
        loans.borrow(content, blocks);
        if (isAnyFoundElsewhere(items)) {
            tree.quotas().countAllAgain();
        }
    }

    /** What counts a directory here; a quota of its own begins as on any that is not empty. */
    private void arrive(Inode directory, Cargo.@Nullable Limits own) {
        Quotas quotas = tree.quotas();
        quotas.arrive(directory, tree.inode(directory.parent));
        if (own == null) {
            quotas.countEntries(directory);
        } else {
            quotas.begin(tree.newIno(), directory, own.bytes(), own.inodes());
        }
    }

    /** Whether something that is no directory has its name in none that comes along. */
    private static boolean isAnyFoundElsewhere(List<Cargo.Item> items) {
        Set<Long> named = new HashSet<>();
        for (Cargo.Item item : items) {
            item.entries().forEach(entry -> named.add(Dentry.decode(entry.value()).ino()));
        }
        return items.stream()
                .anyMatch(item ->
                        !named.contains(item.ino())
                                && !Inode.decode(item.ino(), item.inode()).isDirectory());
    }

    private void extents(Cargo.Item item, Map<BlockRef, Integer> blocks) {
        for (Cargo.Extent extent : item.extents()) {
            records.put(Table.EXTENT, Keys.of(item.ino(), extent.offset()), extent.value());
            BlockRef block = Piece.decode(extent.offset(), extent.value()).block();
            if (block != null) {
                blocks.merge(block, 1, Integer::sum);
                content.noteForeign(item.ino(), block);
            }
        }
    }

    /** Notes where inodes live from now on. */
    void forward(List<Long> inodes, int to) {
        inodes.forEach(ino -> forward(ino, to, false));
    }

    /** Where it was born one knows that; others only need to know what lives with them. */
    private void forward(long ino, int to, boolean directory) {
        int birth = Partitions.ofBirth(ino);
        boolean concerned =
                counters.partition == 0 || birth == counters.partition || to == counters.partition;
        if (birth == to || !concerned) {
            unforward(ino);
            return;
        }
        byte[] key = Keys.of(ino);
        byte[] before = records.get(Table.FORWARD, key);
        if (before == null) {
            counters.forwards++;
        }
        boolean counts =
                counters.partition == 0
                        && birth == 0
                        && (directory || before != null && Homes.isDirectory(before));
        records.put(Table.FORWARD, key, counts ? Homes.encodeDirectory(to) : Homes.encode(to));
    }

    /** The inode lives where it was born, or nowhere. */
    void unforward(long ino) {
        byte[] key = Keys.of(ino);
        if (records.get(Table.FORWARD, key) != null) {
            counters.forwards--;
            records.delete(Table.FORWARD, key);
        }
    }

    void takeBack(Effect.TakeBack effect) {
        loans.takeBack(content, effect.block(), effect.from(), effect.loans());
    }

    void delivered(long through) {
        notices.delivered(through);
    }
}
