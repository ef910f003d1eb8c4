package org.globalfs.replica.state.operations;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.operations.Locks.Copying;
import org.globalfs.replica.state.operations.Locks.DirectoryMoves;
import org.globalfs.replica.state.operations.Locks.Leaving;
import org.globalfs.replica.state.operations.Locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The share of the partition that inodes move away from: says what goes, and holds it still until
 * the decision. As much as one command may carry, depth first from the inodes asked for, so that
 * the list of those that are left stays short: it has brothers of those on one path.
 *
 * <p>Of a tree, directories that have a policy of their own do not go along. What cannot go now
 * stays, and below it everything: the root, what another operation holds, what has locks (they are
 * tied to sessions' leases here), what has content that other regions lent (the loan would have to
 * be handed on), and files with too many extents for one command. A directory with too many entries
 * goes in several: see {@link Copies}; to partition 0 and from it, it stays.
 *
 * <p>What a quota counts goes only with the quota's directory, or after it: the quota ends here
 * then, and begins anew there. Otherwise it would leave its limit behind. The same holds of all
 * quotas around, so that a tree with a quota stays as long as another counts it, too.
 */
final class Departure {

    /** Of a cargo; one that is larger consists of a single inode. */
    private static final int BYTES = 1 << 20;

    /** Of one inode. */
    private static final long LARGEST = 3 << 20;

    /** Of a part of a directory: short commands, so that nobody has to wait long for one. */
    private static final int PART_BYTES = 256 << 10;

    private static final int INODES = 4096;

    private final Records records;
    private final Tree tree;
    private final Intents intents;
    private final Deque<Long> next = new ArrayDeque<>();
    private final Set<Long> seen = new HashSet<>();
    private final Set<Long> going = new HashSet<>();

    /** By directory: whether what lies in it is to be counted by a quota that stays. */
    private final Map<Long, Boolean> countedBelow = new HashMap<>();

    private final List<Cargo.Item> items = new ArrayList<>();
    private final List<Cargo.Limits> limits = new ArrayList<>();
    private final List<Cargo.Part> parts = new ArrayList<>();
    private final List<Long> rest = new ArrayList<>();
    private final List<Long> stayed = new ArrayList<>();
    private final MoveOp op;
    private final int limit;
    private final int room;
    private long bytes;
    private boolean full;

    private Departure(Records records, Tree tree, Intents intents, MoveOp op) {
        this.op = op;
        this.limit = op.isSetLimit() ? Math.clamp(op.getLimit(), 1, INODES) : INODES;
        this.room = op.isSetBytes() ? Math.clamp(op.getBytes(), 1, BYTES) : BYTES;
        this.records = records;
        this.tree = tree;
        this.intents = intents;
    }

    /**
     * The share of the partition that inodes move to. It waits until what they left here before is
     * erased, bit by bit.
     *
     * @param from where they live
     */
    static Prepared arrival(Tree tree, Intents intents, boolean holdsDirectories, int from) {
        return tree.staging().holdsMuchOf(from, tree.homes())
                ? new Prepared(Facts.NONE.refusing(Facts.LOCKED), Set.of())
                : bystander(intents, holdsDirectories);
    }

    /**
     * The share of a partition that only has a say.
     *
     * @param holdsDirectories a directory of partition 0 may come to lie below a regional one
     */
    static Prepared bystander(Intents intents, boolean holdsDirectories) {
        if (!holdsDirectories) {
            return new Prepared(Facts.NONE, Set.of());
        }
        return intents.locks().directoryMoves()
                ? new Prepared(Facts.NONE.refusing(Facts.LOCKED), Set.of())
                : new Prepared(Facts.NONE, Set.of(new DirectoryMoves()));
    }

    /** The share of the partition that they move away from. */
    static Prepared prepare(Records records, Tree tree, Intents intents, MoveOp op) {
        Cargo cargo = new Departure(records, tree, intents, op).load();
        Set<Lock> locks = new LinkedHashSet<>();
        cargo.inodes().forEach(ino -> locks.add(new Leaving(ino)));
        for (Cargo.Part part : cargo.parts()) {
            if (!part.last()) {
                locks.add(new Copying(part.ino()));
            }
        }
        return new Prepared(Facts.NONE.carrying(cargo.encode()), locks);
    }

    private Cargo load() {
        next.addAll(op.getInodes());
        while (!next.isEmpty()) {
            long ino = next.poll();
            if (full) {
                if (seen.add(ino)) {
                    rest.add(ino);
                }
                continue;
            }
            Inode inode = seen.add(ino) && tree.isHere(ino) ? tree.inode(ino) : null;
            if (inode == null || inode.nlink == 0 || isApart(inode)) {
                continue;
            }
            if (stays(inode)) {
                stayed.add(ino);
            } else {
                load(inode);
            }
        }
        return new Cargo(items, rest, stayed, limits, parts);
    }

    private void load(Inode inode) {
        Quota own = tree.quotas().ownOf(inode);
        boolean begun = inode.isDirectory() && tree.copies().isBegun(inode.ino);
        Cargo.Item item = item(inode, !begun);
        long size = item.size();
        if (begun || isToBeCopiedAhead(inode, size)) {
            loadPart(inode, begun ? item : item(inode, false), own);
            return;
        }
        if (size > LARGEST) {
            stayed.add(inode.ino);
            return;
        }
        if (!items.isEmpty() && bytes + size > room) {
            full = true;
            rest.add(inode.ino);
            return;
        }
        add(item, own);
        bytes += size;
        full = items.size() >= limit || bytes >= room;
        for (Cargo.Named entry : item.entries().reversed()) {
            long child = Dentry.decode(entry.value()).ino();
            if (tree.isHere(child)) {
                next.addFirst(child);
            }
        }
    }

    private void add(Cargo.Item item, @Nullable Quota own) {
        items.add(item);
        going.add(item.ino());
        if (own != null) {
            limits.add(new Cargo.Limits(item.ino(), own.limitBytes, own.limitInodes));
        }
    }

    /**
     * Partition 0 counts what lies in a directory that comes or goes, so it has to see all of it.
     */
    private boolean isToBeCopiedAhead(Inode inode, long size) {
        return inode.isDirectory() && size > room && tree.partition() != 0 && op.getTo() != 0;
    }

    /** Nothing else goes with a part; what the directory names comes after it. */
    private void loadPart(Inode directory, Cargo.Item bare, @Nullable Quota own) {
        if (!items.isEmpty()) {
            full = true;
            rest.add(directory.ino);
            return;
        }
        int most = Math.min(room, PART_BYTES);
        Cargo.Part part = tree.copies().next(directory.ino, tree::newIno, op.getTo(), most);
        if (part == null) {
            stayed.add(directory.ino);
            return;
        }
        parts.add(part);
        full = true;
        if (part.last()) {
            add(bare, own);
        } else {
            rest.add(directory.ino);
        }
    }

    private boolean isApart(Inode inode) {
        return op.isSetTree()
                && inode.ino != op.getTree()
                && (inode.flags & Inode.MOVE_POLICY) != 0;
    }

    private boolean stays(Inode inode) {
        return inode.ino == Partitions.ROOT
                || isCounted(inode)
                || intents.touches(inode.ino)
                || intents.locks().copying(inode.ino)
                || inode.isDirectory() && intents.locks().directoryMoves()
                || hasRow(Table.FILE_LOCK, inode.ino)
                || records.get(Table.FOREIGN, Keys.of(inode.ino)) != null;
    }

    /** Whether a quota that stays counts it, or will: a directory's turn may be still to come. */
    private boolean isCounted(Inode inode) {
        return isCountedIn(inode.quota, inode.ino)
                || inode.isDirectory()
                        && Quotas.isAnyCounting(records)
                        && countedBelow.computeIfAbsent(inode.parent, this::isCountedBelow);
    }

    /** Whether a quota or one around it is of a directory that does not go with that inode. */
    private boolean isCountedIn(long quota, long ino) {
        return tree.quotas()
                .anyAround(quota, each -> each.root != ino && !going.contains(each.root));
    }

    /** Those above that go were asked themselves. */
    private boolean isCountedBelow(long directory) {
        long at = directory;
        while (tree.isHere(at) && !going.contains(at)) {
            Inode inode = tree.inode(at);
            if (inode == null || inode.nlink == 0) {
                return false;
            }
            if (isCountedIn(inode.quota, 0)) {
                return true;
            }
            if (at == Partitions.ROOT) {
                return false;
            }
            at = inode.parent;
        }
        return false;
    }

    private boolean hasRow(Table table, long ino) {
        boolean[] found = {false};
        records.scan(
                table,
                Keys.of(ino),
                Keys.of(ino),
                (key, value) -> {
                    found[0] = true;
                    return false;
                });
        return found[0];
    }

    private Cargo.Item item(Inode inode, boolean withEntries) {
        byte[] prefix = Keys.of(inode.ino);
        // Of one that was taken away: its number means nothing elsewhere.
        inode.quota = 0;
        inode.flags &= ~Inode.UNCOUNTED;
        List<Cargo.Extent> extents = new ArrayList<>();
        long[] size = {0};
        if (inode.extents > 0) {
            records.scan(
                    Table.EXTENT,
                    prefix,
                    prefix,
                    (key, value) -> {
                        extents.add(new Cargo.Extent(Keys.getLong(key, 8), value));
                        size[0] += value.length;
                        return size[0] <= LARGEST;
                    });
        }
        return new Cargo.Item(
                inode.ino,
                inode.encode(),
                extents,
                inode.xattrNames > 0 ? named(Table.XATTR, prefix) : List.of(),
                withEntries && inode.isDirectory() ? named(Table.DENTRY, prefix) : List.of());
    }

    /** Stops when it is more than may go. */
    private List<Cargo.Named> named(Table table, byte[] prefix) {
        List<Cargo.Named> rows = new ArrayList<>();
        long[] size = {0};
        records.scan(
                table,
                prefix,
                prefix,
                (key, value) -> {
                    rows.add(new Cargo.Named(Keys.tail(key), value));
                    size[0] += key.length + value.length;
                    return size[0] <= LARGEST;
                });
        return rows;
    }
}
