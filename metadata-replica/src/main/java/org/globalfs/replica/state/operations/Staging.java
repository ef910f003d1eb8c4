package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Entries of directories that do not live here: copied ahead of a directory that is to come ({@link
 * Copies}), or left by one that has gone, or that did not come after all. Those are erased bit by
 * bit. They stand where they would if the directory lived here; nobody sees them, as whoever asks
 * for it is sent to where it lives.
 */
public final class Staging {

    private static final int FORMAT = 1;

    /** In place of a copying's number: nobody waits for the directory. */
    private static final long WASTE = 0;

    /** Entries that are erased in one command without anybody having to wait for it. */
    private static final int MOST_AT_ONCE = 4_096;

    private final MutableRecords records;

    Staging(MutableRecords records) {
        this.records = records;
    }

    private static byte[] encode(long copy) {
        return new Packer(9).u8(FORMAT).i64(copy).done();
    }

    private static long copy(byte[] row) {
        return new Unpacker(row).version(FORMAT, "staged directory").i64();
    }

    private byte @Nullable [] row(long ino) {
        return records.get(Table.STAGED, Keys.of(ino));
    }

    /** Whether something waits to be erased. */
    public static boolean isUntidy(Records records) {
        return !waste(records, 1).isEmpty();
    }

    private static List<Long> waste(Records records, int limit) {
        List<Long> waste = new ArrayList<>();
        records.scan(
                Table.STAGED,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    if (copy(value) == WASTE) {
                        waste.add(Keys.getLong(key, 0));
                    }
                    return waste.size() < limit;
                });
        return waste;
    }

    /**
     * Whether more entries wait to be erased than one command may erase, of directories that may
     * live in a partition: when one comes back, its are erased at once.
     */
    boolean holdsMuchOf(int partition, Homes homes) {
        int[] left = {MOST_AT_ONCE};
        List<Long> waste = waste(records, Integer.MAX_VALUE);
        waste.removeIf(ino -> homes.of(ino) != partition && homes.isKnown(ino));
        for (long ino : waste) {
            // Of an entry's two records the one that is erased last.
            records.scan(Table.COOKIE, Keys.of(ino), Keys.of(ino), (key, value) -> left[0]-- > 0);
        }
        return left[0] < 0;
    }

    /** Some entries arrive. */
    void take(Cargo.Part part) {
        byte[] row = row(part.ino());
        if (row == null || copy(row) != part.copy()) {
            if (row != null) {
                eraseAll(part.ino());
            }
            records.put(Table.STAGED, Keys.of(part.ino()), encode(part.copy()));
        }
        part.entries().forEach(entry -> replace(part.ino(), entry));
    }

    private void replace(long ino, Cargo.Named entry) {
        byte[] key = Keys.of(ino, entry.name());
        byte[] old = records.get(Table.DENTRY, key);
        if (old != null) {
            records.delete(Table.COOKIE, Keys.of(ino, Dentry.decode(old).cookie()));
            records.delete(Table.DENTRY, key);
        }
        if (entry.value().length > 0) {
            Dentry dentry = Dentry.decode(entry.value());
            records.put(Table.DENTRY, key, entry.value());
            records.put(
                    Table.COOKIE,
                    Keys.of(ino, dentry.cookie()),
                    dentry.encodeByCookie(entry.name()));
        }
    }

    /**
     * The directory lives here from now on.
     *
     * @param whole what was staged of it is its entries
     */
    void settle(long ino, boolean whole) {
        if (row(ino) != null) {
            if (!whole) {
                eraseAll(ino);
            }
            records.delete(Table.STAGED, Keys.of(ino));
        }
    }

    /** The directory has gone and its entries with it, but for their records. */
    void leave(long ino) {
        records.put(Table.STAGED, Keys.of(ino), encode(WASTE));
    }

    /** The directory does not come by that copying. */
    void discard(long ino, long copy) {
        byte[] row = row(ino);
        if (row != null && copy(row) == copy) {
            leave(ino);
        }
    }

    /** Erases so many records at most. */
    void erase(int limit) {
        int left = limit;
        for (long ino : waste(records, limit)) {
            left = erase(ino, left);
            if (left <= 0) {
                return;
            }
            records.delete(Table.STAGED, Keys.of(ino));
        }
    }

    private void eraseAll(long ino) {
        erase(ino, Integer.MAX_VALUE);
    }

    private int erase(long ino, int limit) {
        return erase(Table.COOKIE, ino, erase(Table.DENTRY, ino, limit));
    }

    private int erase(Table table, long ino, int limit) {
        List<byte[]> keys = new ArrayList<>();
        records.scan(
                table,
                Keys.of(ino),
                Keys.of(ino),
                (key, value) -> keys.size() < limit && keys.add(key));
        keys.forEach(key -> records.delete(table, key));
        return limit - keys.size();
    }
}
