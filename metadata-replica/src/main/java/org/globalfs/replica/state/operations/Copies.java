package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.globalfs.protocol.Invariant;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Directories with more entries than one command may move. Their entries are copied ahead, in the
 * order of names and a part at a time, to the partition that they move to, while they stay here and
 * in use (as pre-copying does with the memory of a machine that migrates). What changes among the
 * names that were copied is noted, and copied again; when all that is left fits into one command,
 * the directory itself goes with it.
 *
 * <p>Invariant: once a part has arrived, what is staged there and not noted here as changed is what
 * the directory has, up to the last name that was sent. A part that is aborted does no harm: what
 * it had is sent again. There is one at a time ({@link Locks.Copying}).
 *
 * <p>A copying that ends before its directory has moved leaves nothing: the other partition is told
 * to erase its share ({@link Staging}), and what was noted here is erased bit by bit.
 */
public final class Copies {

    private static final int FORMAT = 1;
    private static final byte[] NOTHING = {};

    /** In place of the part that has a changed name: none has. */
    private static final long UNSENT = 0;

    private final MutableRecords records;
    private final Notices notices;

    Copies(MutableRecords records, Counters counters) {
        this.records = records;
        this.notices = new Notices(records, counters);
    }

    /**
     * How far a directory was copied.
     *
     * @param to the partition that it moves to
     * @param number which copying this is: an inode number that no inode has
     * @param part the last one that was made, from 1
     * @param copied the last name that has arrived; empty: none
     * @param sent the last name that will have when the last part has
     * @param ended nobody goes on with it
     */
    public record Copy(
            long ino, int to, long number, long part, byte[] copied, byte[] sent, boolean ended) {

        static Copy decode(long ino, byte[] value) {
            Unpacker in = new Unpacker(value).version(FORMAT, "copy of a directory");
            return new Copy(
                    ino, in.varint32(), in.i64(), in.varint(), in.blob(), in.blob(), in.u8() == 1);
        }

        private byte[] encode() {
            return new Packer(40)
                    .u8(FORMAT)
                    .varint(to)
                    .i64(number)
                    .varint(part)
                    .blob(copied)
                    .blob(sent)
                    .u8(ended ? 1 : 0)
                    .done();
        }

        private boolean hasSent(byte[] name) {
            return Arrays.compareUnsigned(name, sent) <= 0;
        }
    }

    private @Nullable Copy of(long ino) {
        byte[] row = records.get(Table.COPY, Keys.of(ino));
        return row == null ? null : Copy.decode(ino, row);
    }

    private void store(Copy copy) {
        records.put(Table.COPY, Keys.of(copy.ino), copy.encode());
    }

    private void note(long ino, byte[] name, long part) {
        byte[] value = new Packer(4).u8(FORMAT).varint(part).done();
        records.put(Table.COPY, Keys.of(ino, name), value);
    }

    private static long part(byte[] note) {
        return new Unpacker(note).version(FORMAT, "changed name").varint();
    }

    /** All that is being copied, or was and is not erased yet. */
    public static List<Copy> all(Records records) {
        List<Copy> all = new ArrayList<>();
        byte[][] from = {Keys.none()};
        while (from[0] != null) {
            byte[] start = from[0];
            from[0] = null;
            // Behind a copy lie the names that changed, and they may be many.
            records.scan(
                    Table.COPY,
                    Keys.none(),
                    start,
                    (key, value) -> {
                        long ino = Keys.getLong(key, 0);
                        all.add(Copy.decode(ino, value));
                        from[0] = Keys.of(ino + 1);
                        return false;
                    });
        }
        return all;
    }

    boolean isBegun(long ino) {
        return of(ino) != null;
    }

    /** Something is to be changed about a name. */
    void changed(long directory, byte[] name) {
        Copy copy = of(directory);
        if (copy != null && !copy.ended && copy.hasSent(name)) {
            note(directory, name, UNSENT);
        }
    }

    /**
     * The next part. One that does not arrive is made again.
     *
     * @param number gives one to a copying that begins
     * @param room bytes of entries, about
     * @return null: it cannot go on now
     */
    Cargo.@Nullable Part next(long ino, LongSupplier number, int to, int room) {
        Copy found = of(ino);
        if (found != null && !found.ended && found.to != to) {
            end(found);
        }
        if (found != null && (found.ended || found.to != to)) {
            return null;
        }
        Copy copy =
                found != null
                        ? found
                        : new Copy(ino, to, number.getAsLong(), 0, NOTHING, NOTHING, false);
        Load load = new Load(room);
        loadChanged(copy, load);
        byte[] sent = load.full ? copy.copied : loadUnsent(copy, load);
        store(new Copy(ino, to, copy.number, copy.part + 1, copy.copied, sent, false));
        return new Cargo.Part(ino, copy.number, copy.part + 1, !load.full, load.entries);
    }

    /** What goes into a part. */
    private static final class Load {
        private final List<Cargo.Named> entries = new ArrayList<>();
        private final int room;
        private long bytes;
        private boolean full;

        Load(int room) {
            this.room = room;
        }

        /** False when it is full; something always fits. */
        boolean add(byte[] name, byte[] value) {
            full = !entries.isEmpty() && bytes + name.length + value.length > room;
            if (!full) {
                entries.add(new Cargo.Named(name, value));
                bytes += name.length + value.length;
            }
            return !full;
        }
    }

    private void loadChanged(Copy copy, Load load) {
        byte[] prefix = Keys.of(copy.ino);
        records.scan(
                Table.COPY,
                prefix,
                after(copy.ino, NOTHING),
                (key, value) -> {
                    byte[] name = Keys.tail(key);
                    if (Arrays.compareUnsigned(name, copy.copied) > 0) {
                        // Its turn is still to come: of a part that has not arrived.
                        records.delete(Table.COPY, key);
                        return true;
                    }
                    byte[] entry = records.get(Table.DENTRY, key);
                    if (!load.add(name, entry == null ? NOTHING : entry)) {
                        return false;
                    }
                    note(copy.ino, name, copy.part + 1);
                    return true;
                });
    }

    /** Returns the last name that has been sent then. */
    private byte[] loadUnsent(Copy copy, Load load) {
        byte[][] last = {copy.copied};
        records.scan(
                Table.DENTRY,
                Keys.of(copy.ino),
                after(copy.ino, copy.copied),
                (key, value) -> {
                    byte[] name = Keys.tail(key);
                    if (!load.add(name, value)) {
                        return false;
                    }
                    last[0] = name;
                    return true;
                });
        return last[0];
    }

    /** The least key behind that of a name. */
    private static byte[] after(long ino, byte[] name) {
        return Keys.of(ino, Arrays.copyOf(name, name.length + 1));
    }

    /** A part has arrived. */
    void copied(long ino, long part) {
        Copy copy = of(ino);
        if (copy == null || copy.ended) {
            return;
        }
        Invariant.check(
                copy.part == part, "part %s of directory %x follows %s", part, ino, copy.part);
        records.scan(
                Table.COPY,
                Keys.of(ino),
                after(ino, NOTHING),
                (key, value) -> {
                    if (part(value) == part) {
                        records.delete(Table.COPY, key);
                    }
                    return true;
                });
        store(new Copy(ino, copy.to, copy.number, part, copy.sent, copy.sent, false));
    }

    /** The directory has moved with its last part; false: it was not copied ahead. */
    boolean finish(long ino) {
        if (of(ino) == null) {
            return false;
        }
        List<byte[]> keys = new ArrayList<>();
        records.scan(Table.COPY, Keys.of(ino), Keys.of(ino), (key, value) -> keys.add(key));
        keys.forEach(key -> records.delete(Table.COPY, key));
        return true;
    }

    private void end(Copy copy) {
        store(new Copy(copy.ino, copy.to, copy.number, copy.part, NOTHING, NOTHING, true));
        notices.discard(copy.ino, copy.to, copy.number);
    }

    /**
     * Ends the copying of directories that are no more, and of those that nobody goes on with.
     *
     * @param idle the part that a copying, by its number, came to long ago
     */
    void tidy(Locks locks, Map<Long, Long> idle) {
        for (Copy copy : all(records)) {
            boolean isIdle = idle.getOrDefault(copy.number, 0L) == copy.part;
            boolean isUnderWay = locks.copying(copy.ino) || locks.leaving(copy.ino);
            if (!copy.ended && !isUnderWay && (isIdle || isGone(records, copy.ino))) {
                end(copy);
            }
        }
    }

    private static boolean isGone(Records records, long ino) {
        Inode directory = Tree.inode(records, ino);
        return directory == null || directory.nlink == 0;
    }

    /** Whether {@link #tidy} and {@link #erase} have something to do. */
    public static boolean isUntidy(Records records, Copy copy) {
        return copy.ended || isGone(records, copy.ino);
    }

    /** Erases what was noted for copying that has ended; returns how many more records may go. */
    int erase(int limit) {
        int left = limit;
        for (Copy copy : all(records)) {
            if (copy.ended && left > 0) {
                List<byte[]> keys = new ArrayList<>();
                int most = left;
                records.scan(
                        Table.COPY,
                        Keys.of(copy.ino),
                        after(copy.ino, NOTHING),
                        (key, value) -> keys.size() < most && keys.add(key));
                keys.forEach(key -> records.delete(Table.COPY, key));
                left -= keys.size();
                if (left > 0) {
                    records.delete(Table.COPY, Keys.of(copy.ino));
                }
            }
        }
        return left;
    }
}
