package org.globalfs.replica.state.check;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/**
 * Finds the files that have given blocks, and what they are called as far as this partition knows.
 */
public final class FilesWithBlocks {
    /** More than a person reads. */
    private static final int MOST_FILES = 1_000;

    private final Records records;
    private final Map<Long, String> directories = new TreeMap<>();

    private FilesWithBlocks(Records records) {
        this.records = records;
    }

    /** The first files, a line each; none twice. */
    public static List<String> describe(Records records, Collection<BlockRef> blocks) {
        return new FilesWithBlocks(records).describe(Set.copyOf(blocks));
    }

    private List<String> describe(Set<BlockRef> blocks) {
        Set<Long> inodes = new TreeSet<>();
        records.scan(
                Table.EXTENT,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    BlockRef block = Piece.decode(Keys.getLong(key, 8), value).block();
                    if (block != null && blocks.contains(block)) {
                        inodes.add(Keys.getLong(key, 0));
                    }
                    return inodes.size() < MOST_FILES;
                });
        Map<Long, List<String>> names = names(inodes);
        List<String> lines = new ArrayList<>();
        for (long ino : inodes) {
            List<String> own = names.getOrDefault(ino, List.of());
            lines.add(
                    "inode %x %s"
                            .formatted(
                                    ino,
                                    own.isEmpty()
                                            ? "(without a name in this partition)"
                                            : String.join(" = ", own)));
        }
        return lines;
    }

    private Map<Long, List<String>> names(Set<Long> inodes) {
        Map<Long, List<String>> names = new TreeMap<>();
        if (inodes.isEmpty()) {
            return names;
        }
        records.scan(
                Table.DENTRY,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    long ino = Dentry.decode(value).ino();
                    if (inodes.contains(ino)) {
                        names.computeIfAbsent(ino, i -> new ArrayList<>())
                                .add(directory(Keys.getLong(key, 0)) + "/" + text(Keys.tail(key)));
                    }
                    return true;
                });
        return names;
    }

    /** What a directory is called, without a slash at the end. */
    private String directory(long ino) {
        String known = directories.get(ino);
        if (known == null) {
            known = path(ino);
            directories.put(ino, known);
        }
        return known;
    }

    private String path(long from) {
        String path = "";
        Set<Long> seen = new HashSet<>();
        for (long at = from; at != Partitions.ROOT && seen.add(at); ) {
            byte[] value = records.get(Table.INODE, Keys.of(at));
            Inode directory = value == null ? null : Inode.decode(at, value);
            String name = directory == null ? null : nameIn(directory.parent, at);
            if (directory == null || name == null) {
                return "..." + path; // above it is another partition
            }
            path = "/" + name + path;
            at = directory.parent;
        }
        return path;
    }

    private @Nullable String nameIn(long parent, long ino) {
        String[] found = new String[1];
        byte[] prefix = Keys.of(parent);
        records.scan(
                Table.DENTRY,
                prefix,
                prefix,
                (key, value) -> {
                    if (Dentry.decode(value).ino() == ino) {
                        found[0] = text(Keys.tail(key));
                    }
                    return found[0] == null;
                });
        return found[0];
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }
}
