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
 * @param parts of directories that are too large for one command
 */
record Cargo(
        List<Item> items,
        List<Long> rest,
        List<Long> stayed,
        List<Limits> limits,
        List<Part> parts) {

    private static final int PLAIN = 1;

    /** As plain, and limits. */
    private static final int WITH_LIMITS = 2;

    /** As that, and parts. */
    private static final int WITH_PARTS = 3;

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

    /**
     * Some of a directory's entries, ahead of the directory, or with it.
     *
     * @param copy the number of the copying that it belongs to
     * @param number from 1
     * @param last the directory is among the items, without entries
     * @param entries by name; an empty value: there is none any more
     */
    record Part(long ino, long copy, long number, boolean last, List<Named> entries) {}

    record Extent(long offset, byte[] value) {}

    record Named(byte[] name, byte[] value) {}

    /** What a directory's quota allows; 0: no limit. */
    record Limits(long directory, long bytes, long inodes) {}

    /** Whether what was copied ahead of a directory, and the last part, is all of its entries. */
    boolean brings(long directory) {
        return parts.stream().anyMatch(part -> part.last && part.ino == directory);
    }

    List<Long> inodes() {
        return items.stream().map(Item::ino).toList();
    }

    byte[] encode() {
        int format = !parts.isEmpty() ? WITH_PARTS : limits.isEmpty() ? PLAIN : WITH_LIMITS;
        Packer out = new Packer(4096).u8(format);
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
        if (format >= WITH_LIMITS) {
            out.varint(limits.size());
            limits.forEach(each -> out.i64(each.directory).varint(each.bytes).varint(each.inodes));
        }
        if (format == WITH_PARTS) {
            out.varint(parts.size());
            for (Part part : parts) {
                out.i64(part.ino).i64(part.copy).varint(part.number).u8(part.last ? 1 : 0);
                pack(out, part.entries);
            }
        }
        return out.done();
    }

    private static void pack(Packer out, List<Named> rows) {
        out.varint(rows.size());
        rows.forEach(row -> out.blob(row.name).blob(row.value));
    }

    static Cargo decode(byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, WITH_PARTS, "cargo");
        List<Item> items = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            items.add(new Item(in.i64(), in.blob(), extents(in), named(in), named(in)));
        }
        return new Cargo(
                items,
                inodes(in),
                inodes(in),
                format >= WITH_LIMITS ? limits(in) : List.of(),
                format == WITH_PARTS ? parts(in) : List.of());
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

    private static List<Part> parts(Unpacker in) {
        List<Part> parts = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            parts.add(new Part(in.i64(), in.i64(), in.varint(), in.u8() == 1, named(in)));
        }
        return parts;
    }

    private static List<Long> inodes(Unpacker in) {
        List<Long> inodes = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
            inodes.add(in.i64());
        }
        return inodes;
    }
}
