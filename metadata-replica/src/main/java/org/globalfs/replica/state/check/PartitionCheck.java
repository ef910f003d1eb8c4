package org.globalfs.replica.state.check;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.operations.Homes;
import org.globalfs.replica.state.operations.Staging;
import org.jspecify.annotations.Nullable;

/**
 * Checks names against inodes: every name leads to an inode of its type and has its place in
 * readdir's order, every count of links and entries is right, what has no name is an orphan, no
 * directory lies below itself. {@link ContentCheck} and {@link QuotaCheck} have the rest. One
 * instance serves one check.
 */
public final class PartitionCheck {
    private final Records records;
    private final Counters counters;
    private final Homes homes;
    private final CheckReport report = new CheckReport();
    private final InodeSet exists = new InodeSet();
    private final InodeSet directories = new InodeSet();
    private final InodeSet withEntries = new InodeSet();
    private final InodeSet named = new InodeSet();

    /** Live elsewhere, or will live here. */
    private final InodeSet staged = new InodeSet();

    /** Names beyond the first of an inode. */
    private final Map<Long, Integer> moreNames = new HashMap<>();

    /** Of directories that hold others' directories. */
    private final Map<Long, Long> tops = new HashMap<>();

    private long bytes;
    private long adopted;
    private long orphans;

    /** Partition 0: directories that were born in it and live elsewhere. */
    private long globalElsewhere;

    private PartitionCheck(Records records, Counters counters) {
        this.records = records;
        this.counters = counters;
        this.homes = new Homes(records, counters);
    }

    /** {@code records} are those of the moment that the counters tell of. */
    public static CheckReport run(Records records, Counters counters) {
        PartitionCheck check = new PartitionCheck(records, counters);
        check.listInodes();
        check.staged();
        check.names();
        check.cookies();
        check.inodes();
        check.orphans();
        check.ancestors();
        check.total("forwarding entries", check.forwards(), counters.forwards);
        check.crossings();
        new ContentCheck(records, counters, check.exists, check.report).run();
        new QuotaCheck(records, check.report).run();
        check.total("inodes", check.report.inodes, counters.inodes);
        check.total("files with foreign content", check.count(Table.FOREIGN), counters.foreign);
        check.total("inodes that were born elsewhere", check.adopted, counters.adopted);
        check.total("bytes in files", check.bytes, counters.bytes);
        return check.report;
    }

    private void total(String what, long found, long counted) {
        if (found != counted) {
            report.fault("there are %d %s, but %d are counted", found, what, counted);
        }
    }

    private long forwards() {
        long[] rows = {0};
        scan(
                Table.FORWARD,
                (key, value) -> {
                    long ino = Keys.getLong(key, 0);
                    report.digests.inode(ino, Partitions.ofBirth(ino), Homes.decode(value));
                    globalElsewhere += Homes.isDirectory(value) ? 1 : 0;
                    rows[0]++;
                    return true;
                });
        return rows[0];
    }

    private long count(Table table) {
        long[] rows = {0};
        scan(
                table,
                (key, value) -> {
                    rows[0]++;
                    return true;
                });
        return rows[0];
    }

    private void scan(Table table, Records.Visitor visitor) {
        records.scan(table, Keys.none(), Keys.none(), visitor);
    }

    private @Nullable Inode inode(long ino) {
        byte[] value = records.get(Table.INODE, Keys.of(ino));
        return value == null ? null : Inode.decode(ino, value);
    }

    private boolean isHere(long ino) {
        return homes.isHere(ino);
    }

    private void listInodes() {
        scan(
                Table.INODE,
                (key, value) -> {
                    Inode inode = Inode.decode(Keys.getLong(key, 0), value);
                    report.inodes++;
                    bytes += inode.stored;
                    exists.add(inode.ino);
                    if (inode.isDirectory()) {
                        directories.add(inode.ino);
                    }
                    if (!isHere(inode.ino)) {
                        report.fault("inode %x is here and elsewhere", inode.ino);
                    }
                    if (Partitions.ofBirth(inode.ino) != counters.partition) {
                        adopted++;
                    }
                    return true;
                });
    }

    /** Entries of directories that are not here: see {@link Staging}. */
    private void staged() {
        scan(
                Table.STAGED,
                (key, value) -> {
                    long ino = Keys.getLong(key, 0);
                    staged.add(ino);
                    report.staged++;
                    if (exists.contains(ino)) {
                        report.fault("directory %x is here, and its entries are staged", ino);
                    }
                    return true;
                });
    }

    /** One directory's entries, which lie together. */
    private final class Listing {
        long parent = -1;
        long entries;
        long subdirectories;

        void next(long newParent) {
            if (newParent != parent) {
                end();
                parent = newParent;
                entries = 0;
                subdirectories = 0;
            }
            entries++;
        }

        void end() {
            if (parent < 0) {
                return;
            }
            withEntries.add(parent);
            Inode inode = inode(parent);
            if (inode == null || !inode.isDirectory()) {
                report.fault("%d names lie in inode %x, which is no directory", entries, parent);
            } else {
                counts(inode, entries, subdirectories);
            }
        }
    }

    private void counts(Inode directory, long entries, long subdirectories) {
        if (directory.entries != entries) {
            report.fault(
                    "directory %x has %d entries, but counts %d",
                    directory.ino, entries, directory.entries);
        }
        long links = directory.nlink == 0 && entries == 0 ? 0 : 2 + subdirectories;
        if (directory.nlink != links) {
            report.fault(
                    "directory %x has %d links, but counts %d",
                    directory.ino, links, directory.nlink);
        }
    }

    private void names() {
        Listing listing = new Listing();
        scan(
                Table.DENTRY,
                (key, value) -> {
                    long parent = Keys.getLong(key, 0);
                    if (staged.contains(parent)) {
                        return true;
                    }
                    byte[] name = Keys.tail(key);
                    Dentry dentry = Dentry.decode(value);
                    report.names++;
                    listing.next(parent);
                    if (dentry.type() == Mode.DIRECTORY) {
                        listing.subdirectories++;
                    }
                    name(parent, name, dentry);
                    return true;
                });
        listing.end();
    }

    private void name(long parent, byte[] name, Dentry dentry) {
        byte[] place = records.get(Table.COOKIE, Keys.of(parent, dentry.cookie()));
        if (place == null || !same(Dentry.decodeByCookie(dentry.cookie(), place), name, dentry)) {
            report.fault("%x/%s has no place in the order of readdir", parent, text(name));
        }
        long ino = dentry.ino();
        if (!isHere(ino)) {
            report.foreign.merge(ino, 1, Integer::sum);
            if (dentry.type() == Mode.DIRECTORY) {
                report.held.add(new CheckReport.Crossing(ino, parent, top(parent)));
            }
            return;
        }
        if (!exists.contains(ino)) {
            report.fault("%x/%s leads to inode %x, which is not there", parent, text(name), ino);
            return;
        }
        if (directories.contains(ino) != (dentry.type() == Mode.DIRECTORY)) {
            report.fault("%x/%s is of another type than its inode %x", parent, text(name), ino);
        }
        if (!named.add(ino)) {
            moreNames.merge(ino, 1, Integer::sum);
        }
        if (dentry.type() == Mode.DIRECTORY) {
            Inode directory = inode(ino);
            if (directory != null && directory.isDirectory() && directory.parent != parent) {
                report.fault(
                        "directory %x lies in %x, but believes to lie in %x",
                        ino, parent, directory.parent);
            }
        }
    }

    /** The uppermost directory of this partition above a directory; 0 when there is none. */
    private long top(long from) {
        return tops.computeIfAbsent(
                from,
                first -> {
                    InodeSet seen = new InodeSet();
                    long at = first;
                    while (seen.add(at)) {
                        Inode directory = at == Partitions.ROOT ? null : inode(at);
                        if (directory == null || !isHere(directory.parent)) {
                            return at;
                        }
                        at = directory.parent;
                    }
                    return 0L; // a circle: told by others
                });
    }

    /** Directories that lie in other partitions' directories. */
    private void crossings() {
        scan(
                Table.INODE,
                (key, value) -> {
                    long ino = Keys.getLong(key, 0);
                    if (directories.contains(ino)) {
                        Inode directory = Inode.decode(ino, value);
                        if (directory.nlink > 0 && !isHere(directory.parent)) {
                            report.hanging.add(new CheckReport.Crossing(ino, directory.parent, 0));
                        }
                    }
                    return true;
                });
        report.globalBelow = counters.globalBelow;
        if (counters.partition == 0) {
            total(
                    "directories of partition 0 in regional ones or partitions",
                    report.hanging.size() + globalElsewhere,
                    counters.globalBelow);
        }
    }

    private static boolean same(Dentry.Named place, byte[] name, Dentry dentry) {
        return place.dentry().equals(dentry) && Arrays.equals(place.name(), name);
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    private void cookies() {
        long[] places = {0};
        scan(
                Table.COOKIE,
                (key, value) -> {
                    places[0] += staged.contains(Keys.getLong(key, 0)) ? 0 : 1;
                    return true;
                });
        total("places in the orders of readdir", places[0], report.names);
    }

    private void inodes() {
        scan(
                Table.INODE,
                (key, value) -> {
                    Inode inode = Inode.decode(Keys.getLong(key, 0), value);
                    if (inode.isDirectory() && !withEntries.contains(inode.ino)) {
                        counts(inode, 0, 0);
                    }
                    links(inode);
                    boolean orphan = records.get(Table.ORPHAN, Keys.of(inode.ino)) != null;
                    if (orphan != (inode.nlink == 0)) {
                        report.fault(
                                "inode %x has %d links and is %s the list of orphans",
                                inode.ino, inode.nlink, orphan ? "on" : "not on");
                    }
                    return true;
                });
    }

    private void links(Inode inode) {
        int found = named.contains(inode.ino) ? 1 + moreNames.getOrDefault(inode.ino, 0) : 0;
        int wanted = inode.isDirectory() ? Math.min(1, inode.nlink) : inode.nlink;
        if (inode.ino == Partitions.ROOT) {
            wanted = 0;
        }
        if (found > wanted) {
            report.fault("inode %x has %d names, but should have %d", inode.ino, found, wanted);
        } else if (found < wanted) {
            report.unexplained.put(inode.ino, wanted - found);
        }
    }

    private void orphans() {
        scan(
                Table.ORPHAN,
                (key, value) -> {
                    orphans++;
                    if (!exists.contains(Keys.getLong(key, 0))) {
                        report.fault("orphan %x is not there", Keys.getLong(key, 0));
                    }
                    return true;
                });
        total("orphans", orphans, counters.orphans);
    }

    /** Walks up from every directory until where another walk came by. */
    private void ancestors() {
        InodeSet safe = new InodeSet();
        scan(
                Table.INODE,
                (key, value) -> {
                    long ino = Keys.getLong(key, 0);
                    if (directories.contains(ino) && !safe.contains(ino)) {
                        walk(ino, safe);
                    }
                    return true;
                });
    }

    private void walk(long from, InodeSet safe) {
        InodeSet walk = new InodeSet();
        long at = from;
        while (isHere(at) && at != Partitions.ROOT && !safe.contains(at)) {
            Inode directory = inode(at);
            if (directory == null || directory.nlink == 0) {
                break; // told by others
            }
            if (!walk.add(at)) {
                report.fault("directory %x lies below itself", at);
                break;
            }
            at = directory.parent;
        }
        at = from;
        while (walk.contains(at) && safe.add(at)) {
            Inode directory = inode(at);
            if (directory == null) {
                return;
            }
            at = directory.parent;
        }
    }
}
