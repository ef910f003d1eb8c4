package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.globalfs.datastore.rocksdb.Denial;
import org.globalfs.datastore.rocksdb.NativeLibrary;
import org.globalfs.datastore.rocksdb.TableFormat;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.OpenFiles;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where each chunk is, in RocksDB. The segments say the same, so the index may be lost; it saves
 * memory, and a start from reading all segments.
 *
 * <p>RocksDB's own log is off. What was changed is in its memory until a {@link #checkpoint}, which
 * moves all of it to disk at once; a crash leaves the index as it was at some checkpoint. RocksDB
 * writes at no other time: the caller sees to it that a checkpoint comes before {@link
 * #MAX_CHANGES}. Rows are read by any thread, and written under the store's index lock.
 *
 * <p>Once RocksDB could not write, for another reason than a full disk, it takes no changes any
 * more, and still says what it said; and what it cannot read is damaged. Then {@link #renew} writes
 * all rows anew.
 */
final class ChunkIndex implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkIndex.class);

    /** More changes than this since a checkpoint may fill RocksDB's write buffer. */
    static final long MAX_CHANGES = 50_000;

    /** As many as the write buffer surely takes. */
    static final long MOST_CHANGES = 3 * MAX_CHANGES;

    /** What a checkpoint may need on disk. */
    static final long CHECKPOINT_BYTES = 64 << 20;

    /** What a row takes on disk, about. */
    static final long ROW_BYTES = 100;

    /** After a full disk RocksDB goes on only once so much is free. */
    private static final long WRITE_BUFFER_BYTES = 32 << 20;

    private static final long BLOCK_CACHE_BYTES = 8 << 20;
    private static final int CACHE_SHARD_BITS = 1;

    /** Beside the files of RocksDB: they are damaged, and go at the next start. */
    private static final String DAMAGE_NOTE = "DAMAGED";

    private static final byte CHUNK = 'c';
    private static final byte SEGMENT = 's';
    private static final byte[] CHECKPOINT = {'k'};

    /** Nothing is ever there. */
    private static final byte[] PROBE = {'p'};

    private static final int FORMAT = 1;

    /** Beside the index: where it is written anew. */
    private static final String DRAFT = ".new";

    private final Path folder;
    private final Path draft;
    private final Options options;
    private final BloomFilter bloom = new BloomFilter(10, false);
    private final Cache cache = new LRUCache(BLOCK_CACHE_BYTES, CACHE_SHARD_BITS);
    private final WriteOptions write = new WriteOptions().setDisableWAL(true);
    private final AtomicLong changes = new AtomicLong();

    /** Whoever is in RocksDB holds the read lock: nobody may be there when it is closed. */
    private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

    /** Null: closed, for now or for good. Guarded by use. */
    private @Nullable RocksDB db;

    private boolean closed;

    /** All rows are on disk in the draft, and RocksDB is closed. For who renews. */
    private boolean drafted;

    /** A change was refused since one was taken. */
    private volatile boolean refuses;

    /** It will refuse all until it is renewed. */
    private volatile boolean broken;

    /** Some of what it says cannot be read, until it is renewed. */
    private volatile boolean unreadable;

    private final Checkpoint last;

    /**
     * A chunk's place.
     *
     * @param segment the segment's number
     */
    record Row(
            int segment,
            int offset,
            int recordBytes,
            int dataBytes,
            ChunkShape shape,
            @Nullable String home) {

        byte[] bytes() {
            byte[] name = home == null ? new byte[0] : home.getBytes(StandardCharsets.UTF_8);
            ByteBuffer to = ByteBuffer.allocate(16 + ChunkShape.BYTES + name.length);
            to.putInt(segment).putInt(offset).putInt(recordBytes).putInt(dataBytes);
            shape.write(to);
            return to.put(name).array();
        }

        static Row of(byte[] bytes) {
            ByteBuffer from = ByteBuffer.wrap(bytes);
            int segment = from.getInt();
            int offset = from.getInt();
            int recordBytes = from.getInt();
            int dataBytes = from.getInt();
            ChunkShape shape = ChunkShape.read(from);
            byte[] name = new byte[from.remaining()];
            from.get(name);
            String home = name.length == 0 ? null : new String(name, StandardCharsets.UTF_8);
            return new Row(segment, offset, recordBytes, dataBytes, shape, home);
        }
    }

    /**
     * @param number 0: there was none yet
     * @param from segments from this number on may have got records since
     */
    record Checkpoint(long number, int from) {
        static final Checkpoint NONE = new Checkpoint(0, 0);
    }

    /** The index has not done what was asked, and may do it once it is renewed. */
    static final class Refusal extends IOException {
        private static final long serialVersionUID = 1;

        private Refusal(String message, @Nullable Exception cause) {
            super(message, cause);
        }
    }

    /** Is told of each row in turn. */
    interface Visitor {
        void row(ChunkKey key, Row row);
    }

    /** Rows from elsewhere; of two of one chunk the later one counts. */
    interface Rows {
        void each(Visitor visitor) throws IOException;
    }

    private ChunkIndex(Path folder) throws RocksDBException {
        this.folder = folder;
        draft = draft(folder);
        options =
                new Options()
                        .setCreateIfMissing(true)
                        .setAvoidFlushDuringShutdown(true)
                        .setWriteBufferSize(WRITE_BUFFER_BYTES)
                        .setArenaBlockSize(256 << 10)
                        .setMemtableWholeKeyFiltering(true)
                        .setMemtablePrefixBloomSizeRatio(0.02)
                        .setMaxBackgroundJobs(2)
                        .setCompressionType(CompressionType.LZ4_COMPRESSION)
                        .setLevelCompactionDynamicLevelBytes(true)
                        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                        .setKeepLogFileNum(2)
                        .setManifestPreallocationSize(64 << 10)
                        .setStatsDumpPeriodSec(0)
                        .setStatsPersistPeriodSec(0)
                        .setTableFormatConfig(TableFormat.of(cache, bloom));
        RocksDB opened = RocksDB.open(options, folder.toString());
        db = opened;
        try {
            last = readCheckpoint(opened);
        } catch (RocksDBException e) {
            opened.close();
            throw e;
        }
    }

    private static Path draft(Path folder) {
        return folder.resolveSibling(folder.getFileName() + DRAFT);
    }

    /** Opens the index, or makes an empty one where there is none that can be read. */
    static ChunkIndex open(Path folder) throws IOException {
        NativeLibrary.load();
        Folders.delete(draft(folder));
        if (isDamaged(folder)) {
            LOG.warn("{} is damaged, and made anew", folder);
            Folders.delete(folder);
        }
        Folders.create(folder);
        try {
            return new ChunkIndex(folder);
        } catch (RocksDBException e) {
            IOException hindrance = hindrance(folder, e);
            if (hindrance != null) {
                throw hindrance;
            }
            LOG.warn("{} cannot be read, and is made anew: {}", folder, e.getMessage());
            Folders.delete(folder);
            Folders.create(folder);
        }
        try {
            return new ChunkIndex(folder);
        } catch (RocksDBException e) {
            throw cannotOpen(folder, e);
        }
    }

    /** What keeps this process from an index that may be as good as ever; null: it is damaged. */
    static @Nullable IOException hindrance(Path folder, RocksDBException e) {
        if (OpenFiles.areUsedUp(e)) {
            return cannotOpen(folder, e);
        }
        AccessDeniedException denied = Denial.of(folder, e);
        return denied == null ? null : cannotOpen(folder, e.getMessage(), denied);
    }

    private static IOException cannotOpen(Path folder, RocksDBException cause) {
        return cannotOpen(folder, cause.getMessage(), cause);
    }

    private static IOException cannotOpen(Path folder, @Nullable String why, Exception cause) {
        return new IOException("cannot open the index " + folder + ": " + why, cause);
    }

    /** Whether an index that was in use turned out to be damaged; it is made anew when opened. */
    static boolean isDamaged(Path folder) {
        return Files.exists(folder.resolve(DAMAGE_NOTE));
    }

    private static Checkpoint readCheckpoint(RocksDB db) throws RocksDBException {
        byte[] row = db.get(CHECKPOINT);
        if (row == null) {
            return Checkpoint.NONE;
        }
        ByteBuffer from = ByteBuffer.wrap(row);
        int format = from.getInt();
        if (format != FORMAT) {
            throw new RocksDBException("format " + format + ", this program reads " + FORMAT);
        }
        return new Checkpoint(from.getLong(), from.getInt());
    }

    /** The one that it was opened at. */
    Checkpoint openedAt() {
        return last;
    }

    /** Changes since the last checkpoint. */
    long changes() {
        return changes.get();
    }

    private static byte[] key(ChunkKey key) {
        ByteBuffer to = ByteBuffer.allocate(1 + ChunkKey.BYTES).put(CHUNK);
        key.write(to);
        return to.array();
    }

    private static ChunkKey key(byte[] bytes) {
        return ChunkKey.read(ByteBuffer.wrap(bytes, 1, ChunkKey.BYTES));
    }

    private static byte[] key(int segment) {
        return ByteBuffer.allocate(5).put(SEGMENT).putInt(segment).array();
    }

    @Nullable Row get(ChunkKey key) {
        byte[] row = get(key(key));
        return row == null ? null : Row.of(row);
    }

    private interface Work<T> {
        T run(RocksDB db) throws RocksDBException;
    }

    private <T> T in(Work<T> work) {
        use.readLock().lock();
        try {
            if (closed) {
                throw new UncheckedIOException(new ClosedChannelException());
            }
            RocksDB opened = db;
            if (opened == null) {
                throw new UncheckedIOException(
                        new Refusal("index " + folder + " could not be opened again yet", null));
            }
            return work.run(opened);
        } catch (RocksDBException e) {
            throw failed(e);
        } finally {
            use.readLock().unlock();
        }
    }

    private byte @Nullable [] get(byte[] key) {
        return in(db -> db.get(key));
    }

    void put(ChunkKey key, Row row) {
        put(key(key), row.bytes());
    }

    /**
     * Throws if it has refused a change, and still would: each record that it refuses is garbage in
     * a segment, on a disk that is full already.
     */
    void checkTakesChanges() {
        if (refuses) {
            change(db -> db.delete(write, PROBE));
            refuses = false;
        }
    }

    /** Whether it has to be renewed, and takes no changes, or does not say all, before. */
    boolean isBroken() {
        return broken || unreadable;
    }

    /** Whether renewing takes the rows from elsewhere. */
    boolean isUnreadable() {
        return unreadable;
    }

    private void put(byte[] key, byte[] row) {
        change(db -> db.put(write, key, row));
        changes.incrementAndGet();
    }

    private interface Change {
        void make(RocksDB db) throws RocksDBException;
    }

    private void change(Change change) {
        in(db -> {
            try {
                change.make(db);
            } catch (RocksDBException e) {
                throw refused(e);
            }
            return true;
        });
    }

    private UncheckedIOException refused(RocksDBException e) {
        Refusal refusal = refusal(e);
        refuses = true;
        if (!isFull(e) && !broken) {
            broken = true;
            LOG.error("{}; no more writes until it could be written anew", refusal.getMessage());
        }
        return new UncheckedIOException(refusal);
    }

    /** Whether that alone is why something failed. */
    static boolean isRefusal(Throwable failure) {
        return failure instanceof Refusal
                || failure instanceof UncheckedIOException && failure.getCause() instanceof Refusal;
    }

    private Refusal refusal(RocksDBException e) {
        return new Refusal("index " + folder + ": " + e.getMessage(), e);
    }

    /** RocksDB goes on by itself then, once there is room. */
    private static boolean isFull(RocksDBException e) {
        return e.getStatus() != null
                && e.getStatus().getSubCode() == org.rocksdb.Status.SubCode.NoSpace;
    }

    void remove(ChunkKey key) {
        remove(key(key));
    }

    private void remove(byte[] key) {
        change(db -> db.delete(write, key));
        changes.incrementAndGet();
    }

    /** What was last noted of a segment's dead records; null: nothing. */
    byte @Nullable [] summary(int segment) {
        return get(key(segment));
    }

    void summarize(int segment, byte[] summary) {
        put(key(segment), summary);
    }

    /** Segments that {@link #summary} knows of. */
    List<Integer> summarized() {
        List<Integer> found = new ArrayList<>();
        return in(db -> {
            try (RocksIterator rows = db.newIterator()) {
                rows.seek(new byte[] {SEGMENT});
                while (rows.isValid() && rows.key()[0] == SEGMENT) {
                    found.add(ByteBuffer.wrap(rows.key(), 1, 4).getInt());
                    rows.next();
                }
                rows.status();
                return found;
            }
        });
    }

    void forget(int segment) {
        remove(key(segment));
    }

    void forEach(Visitor visitor) {
        in(db -> {
            try (RocksIterator rows = db.newIterator()) {
                for (rows.seek(new byte[] {CHUNK}); isChunk(rows); rows.next()) {
                    visitor.row(key(rows.key()), Row.of(rows.value()));
                }
                rows.status();
                return true;
            }
        });
    }

    private static boolean isChunk(RocksIterator rows) {
        return rows.isValid() && rows.key()[0] == CHUNK;
    }

    /** Rows after `after` (null: from the first) in key order. */
    List<Map.Entry<ChunkKey, Row>> list(@Nullable ChunkKey after, int limit) {
        List<Map.Entry<ChunkKey, Row>> found = new ArrayList<>();
        return in(db -> {
            try (RocksIterator rows = db.newIterator()) {
                rows.seek(after == null ? new byte[] {CHUNK} : key(after));
                while (found.size() < limit && isChunk(rows)) {
                    ChunkKey key = key(rows.key());
                    if (!key.equals(after)) {
                        found.add(Map.entry(key, Row.of(rows.value())));
                    }
                    rows.next();
                }
                rows.status();
                return found;
            }
        });
    }

    /** The last one in key order; null: there is none. */
    @Nullable ChunkKey last() {
        return in(
                        db -> {
                            try (RocksIterator rows = db.newIterator()) {
                                rows.seekForPrev(new byte[] {CHUNK + 1});
                                rows.status();
                                return isChunk(rows)
                                        ? Optional.of(key(rows.key()))
                                        : Optional.<ChunkKey>empty();
                            }
                        })
                .orElse(null);
    }

    /**
     * What is in the index now reaches the disk, in the background, and nothing that comes later.
     * All that it says must be on disk in the segments. Index lock held.
     */
    void checkpoint(Checkpoint checkpoint) {
        byte[] row =
                ByteBuffer.allocate(16)
                        .putInt(FORMAT)
                        .putLong(checkpoint.number)
                        .putInt(checkpoint.from)
                        .array();
        // RocksDB begins a new memory table before it returns, even if it need not wait.
        change(db -> {
            try (FlushOptions flush = new FlushOptions().setWaitForFlush(false)) {
                db.put(write, CHECKPOINT, row);
                db.flush(flush);
            }
        });
        changes.set(0);
    }

    /**
     * Writes all rows into a new RocksDB, which takes the place of the one there is. It has no
     * checkpoint: a start before the next one looks through all segments. Append lock and index
     * lock held.
     *
     * @param elsewhere the rows, for an index that is unreadable
     * @throws Refusal not now; it may be tried again
     * @throws UncheckedIOException likewise
     */
    void renew(Rows elsewhere) throws Refusal {
        try {
            if (!drafted && isOpen()) {
                Folders.delete(draft);
                Folders.create(draft);
                if (unreadable) {
                    fillDraft(elsewhere);
                } else {
                    in(this::copyToDraft);
                }
            }
            replace();
        } catch (RocksDBException e) {
            throw refusal(e);
        } catch (IOException e) {
            throw new Refusal("index " + folder + ": " + e, e);
        }
    }

    private boolean isOpen() {
        use.readLock().lock();
        try {
            return db != null;
        } finally {
            use.readLock().unlock();
        }
    }

    private boolean copyToDraft(RocksDB from) throws RocksDBException {
        try (RocksDB to = openDraft();
                RocksIterator rows = from.newIterator();
                FlushOptions flush = new FlushOptions()) {
            for (rows.seekToFirst(); rows.isValid(); rows.next()) {
                if (!Arrays.equals(rows.key(), CHECKPOINT)) {
                    put(to, rows.key(), rows.value());
                }
            }
            rows.status();
            flushDraft(to, flush);
            return true;
        }
    }

    private void fillDraft(Rows rows) throws IOException {
        try (RocksDB to = openDraft();
                FlushOptions flush = new FlushOptions()) {
            rows.each((key, row) -> put(to, key(key), row.bytes()));
            flushDraft(to, flush);
        }
    }

    private RocksDB openDraft() {
        try {
            return RocksDB.open(options, draft.toString());
        } catch (RocksDBException e) {
            throw new UncheckedIOException(refusal(e));
        }
    }

    private void put(RocksDB to, byte[] key, byte[] row) {
        try {
            to.put(write, key, row);
        } catch (RocksDBException e) {
            throw new UncheckedIOException(refusal(e));
        }
    }

    private void flushDraft(RocksDB to, FlushOptions flush) {
        try {
            to.flush(flush);
        } catch (RocksDBException e) {
            throw new UncheckedIOException(refusal(e));
        }
    }

    /** Puts the draft in its place, as far as that has not been done, and opens it. */
    private void replace() throws IOException, RocksDBException {
        use.writeLock().lock();
        try {
            if (closed) {
                throw new ClosedChannelException();
            }
            RocksDB former = db;
            if (former != null) {
                former.close();
                db = null;
                drafted = true;
            }
            if (drafted) {
                Folders.delete(folder);
                Files.move(draft, folder, StandardCopyOption.ATOMIC_MOVE);
                drafted = false;
            }
            db = RocksDB.open(options, folder.toString());
            broken = false;
            unreadable = false;
            refuses = false;
        } finally {
            use.writeLock().unlock();
        }
    }

    /** Waits until all checkpoints are on disk; no longer than the limit. */
    void awaitWritten(long limitMs) {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
        while (!isWritten() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private boolean isWritten() {
        return in(db -> db.getLongProperty("rocksdb.num-immutable-mem-table") == 0);
    }

    /** It cannot be read; a start before it is renewed makes it anew, if it is damaged. */
    private UncheckedIOException failed(RocksDBException e) {
        Refusal failure = refusal(e);
        if (!unreadable) {
            unreadable = true;
            LOG.error("{}; it is made anew from the segments", failure.getMessage());
        }
        if (e.getStatus() != null
                && e.getStatus().getCode() == org.rocksdb.Status.Code.Corruption) {
            try {
                Files.writeString(folder.resolve(DAMAGE_NOTE), String.valueOf(e.getMessage()));
            } catch (IOException unwritten) {
                failure.addSuppressed(unwritten);
            }
        }
        return new UncheckedIOException(failure);
    }

    @Override
    public void close() {
        use.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                if (db != null) {
                    db.close();
                }
                options.close();
                write.close();
                cache.close();
                bloom.close();
            }
        } finally {
            use.writeLock().unlock();
        }
    }
}
