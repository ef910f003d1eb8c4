package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Unpacker;

/**
 * What moves from one partition to another in one command: the records of some inodes.
 *
 * @param rest inodes that go along and did not fit
 * @param stayed inodes that were to go and cannot now
 * @param limits of those directories that go that have a quota of their own
 */
record Cargo(List<Item> items, List<Long> rest, List<Long> stayed, List<Limits> limits) {

    private static final int PLAIN = 1;

    /** As plain, and limits. */
    private static final int WITH_LIMITS = 2;

    /**
     * One inode: the values of its rows in their tables.
     *
     * @param extents by offset
     * @param xattrs by name
     * @param entries a directory's, by name
     */
    record Item(
            long ino, byte[] inode, List<Extent> extents, List<Named> xattrs, List<Named> entries) {

        /** Bytes, about. */
        long size() {
            long size = 32L + inode.length;
            for (Extent extent : extents) {
                size += 12 + extent.value.length;
            }
            for (Named row : xattrs) {
                size += 4 + row.name.length + row.value.length;
            }
            for (Named row : entries) {
                size += 4 + row.name.length + row.value.length;
            }
            return size;
        }
    }

    record Extent(long offset, byte[] value) {}

    record Named(byte[] name, byte[] value) {}

    /** What a directory's quota allows; 0: no limit. */
    record Limits(long directory, long bytes, long inodes) {}

    List<Long> inodes() {
        return items.stream().map(Item::ino).toList();
    }

    byte[] encode() {
        Packer out = new Packer(4096).u8(limits.isEmpty() ? PLAIN : WITH_LIMITS);
        out.varint(items.size());
        for (Item item : items) {
            out.i64(item.ino).blob(item.inode).varint(item.extents.size());
            item.extents.forEach(extent -> out.varint(extent.offset).blob(extent.value));
            pack(out, item.xattrs);
            pack(out, item.entries);
        }
        out.varint(rest.size());
        rest.forEach(out::i64);
        out.varint(stayed.size());
        stayed.forEach(out::i64);
        if (!limits.isEmpty()) {
            out.varint(limits.size());
            limits.forEach(each -> out.i64(each.directory).varint(each.bytes).varint(each.inodes));
        }
        return out.done();
    }

    private static void pack(Packer out, List<Named> rows) {
        out.varint(rows.size());
        rows.forEach(row -> out.blob(row.name).blob(row.value));
    }

    static Cargo decode(byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, WITH_LIMITS, "cargo");
        List<Item> items = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            items.add(new Item(in.i64(), in.blob(), extents(in), named(in), named(in)));
        }
        return new Cargo(
                items, inodes(in), inodes(in), format == WITH_LIMITS ? limits(in) : List.of());
    }

    private static List<Extent> extents(Unpacker in) {
        List<Extent> extents = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            extents.add(new Extent(in.varint(), in.blob()));
        }
        return extents;
    }

    private static List<Named> named(Unpacker in) {
        List<Named> rows = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            rows.add(new Named(in.blob(), in.blob()));
        }
        return rows;
    }

    private static List<Limits> limits(Unpacker in) {
        List<Limits> limits = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            limits.add(new Limits(in.i64(), in.varint(), in.varint()));
        }
        return limits;
    }

    private static List<Long> inodes(Unpacker in) {
        List<Long> inodes = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            inodes.add(in.i64());
        }
        return inodes;
    }
}
