package org.globalfs.replica.state.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.globalfs.datastore.rocksdb.Denial;
import org.globalfs.datastore.rocksdb.NativeLibrary;
import org.globalfs.datastore.rocksdb.TableFormat;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RocksDB with a column family a table. Its write-ahead log is off: after a crash it stands at its
 * last flush, which is atomic over all tables, and the ring's log is replayed from there.
 *
 * <p>RocksDB checks blocks when they are read, so damage can show long after the start. It is then
 * noted in the folder, which cannot be opened any more.
 */
public final class Store implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Store.class);

    /** No name that RocksDB has a use for. */
    private static final String DAMAGE_NOTE = "DAMAGED";

    private static final String DAMAGE_REMEDY =
            ". Start this process again: it sets the damaged state aside and takes another replica's";

    /** Shards of the block cache, so that each has room for blocks of any kind. */
    private static final int CACHE_SHARD_BITS = 2;

    private final Path folder;
    private final RocksDB db;
    private final DBOptions dbOptions;
    private final ColumnFamilyOptions tableOptions;
    private final BloomFilter bloom;
    private final Cache cache;
    private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);
    private final ReadOptions readOptions = new ReadOptions();
    private final StoreView newest = StoreView.newest(this);
    private final Map<Table, ColumnFamilyHandle> handles = new EnumMap<>(Table.class);

    private Store(Path folder, StateOptions options) throws RocksDBException {
        this.folder = folder;
        cache = new LRUCache(options.blockCacheBytes(), CACHE_SHARD_BITS);
        bloom = new BloomFilter(10, false);
        tableOptions =
                new ColumnFamilyOptions()
                        .setTableFormatConfig(TableFormat.of(cache, bloom).setBlockSize(8 << 10))
                        .setWriteBufferSize(options.writeBufferBytes())
                        .setArenaBlockSize(256 << 10)
                        .setMemtableWholeKeyFiltering(true)
                        .setMemtablePrefixBloomSizeRatio(0.02)
                        .setLevelCompactionDynamicLevelBytes(true)
                        .setCompressionType(CompressionType.LZ4_COMPRESSION);
        dbOptions =
                new DBOptions()
                        .setCreateIfMissing(true)
                        .setCreateMissingColumnFamilies(true)
                        .setAtomicFlush(true)
                        .setAvoidFlushDuringShutdown(true)
                        .setDbWriteBufferSize(options.writeBufferBytes())
                        .setMaxBackgroundJobs(2)
                        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                        .setKeepLogFileNum(2)
                        .setStatsDumpPeriodSec(0)
                        .setStatsPersistPeriodSec(0);
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        for (Table table : Table.values()) {
            byte[] name =
                    table == Table.SYSTEM
                            ? RocksDB.DEFAULT_COLUMN_FAMILY
                            : table.name()
                                    .toLowerCase(Locale.ROOT)
                                    .getBytes(StandardCharsets.US_ASCII);
            descriptors.add(new ColumnFamilyDescriptor(name, tableOptions));
        }
        List<ColumnFamilyHandle> opened = new ArrayList<>();
        db = RocksDB.open(dbOptions, folder.toString(), descriptors, opened);
        Iterator<ColumnFamilyHandle> inOrder = opened.iterator();
        for (Table table : Table.values()) {
            handles.put(table, inOrder.next());
        }
    }

    /**
     * Opens or creates.
     *
     * @throws StateException also when the folder was found to be damaged before
     */
    public static Store open(Path folder, StateOptions options) {
        try {
            NativeLibrary.load();
            Folders.create(folder);
            Path note = folder.resolve(DAMAGE_NOTE);
            if (Files.exists(note)) {
                throw StateException.damaged(
                        "the metadata store " + folder + " is damaged: " + Files.readString(note),
                        null);
            }
            return new Store(folder, options);
        } catch (RocksDBException e) {
            throw cannotOpen(folder, e);
        } catch (IOException e) {
            throw new StateException(
                    "cannot open the metadata store " + folder + ": " + e.getMessage(), e);
        }
    }

    static StateException cannotOpen(Path folder, RocksDBException e) {
        String message =
                "cannot open the metadata store " + folder + ": " + e.getMessage() + remedy(e);
        if (isDamage(e) || isFileMissing(e)) {
            return StateException.damaged(message, e);
        }
        AccessDeniedException denied = Denial.of(folder, e);
        return new StateException(message, denied == null ? e : denied);
    }

    /** Reads all of a closed store's files; what is wrong with them, empty: nothing. */
    public static Optional<String> damage(Path folder) throws IOException {
        NativeLibrary.load();
        List<ColumnFamilyHandle> opened = new ArrayList<>();
        try (Options listing = new Options();
                DBOptions options = new DBOptions();
                ColumnFamilyOptions tables = new ColumnFamilyOptions()) {
            List<ColumnFamilyDescriptor> descriptors =
                    RocksDB.listColumnFamilies(listing, folder.toString()).stream()
                            .map(name -> new ColumnFamilyDescriptor(name, tables))
                            .toList();
            try (RocksDB db =
                    RocksDB.openReadOnly(options, folder.toString(), descriptors, opened)) {
                db.verifyChecksum();
                return Optional.empty();
            } finally {
                opened.forEach(ColumnFamilyHandle::close);
            }
        } catch (RocksDBException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static boolean isDamage(RocksDBException e) {
        Status status = e.getStatus();
        return status != null && status.getCode() == Status.Code.Corruption;
    }

    /** What names the files is damaged, or they are gone. */
    private static boolean isFileMissing(RocksDBException e) {
        String message = e.getMessage();
        return message != null && message.contains("No such file");
    }

    /** The records as committed at the moment of each access. */
    public StoreView newest() {
        return newest;
    }

    private ColumnFamilyHandle handle(Table table) {
        return Objects.requireNonNull(handles.get(table));
    }

    byte @Nullable [] get(Table table, byte[] key) {
        return get(table, key, readOptions);
    }

    byte @Nullable [] get(Table table, byte[] key, ReadOptions options) {
        try {
            return db.get(handle(table), options, key);
        } catch (RocksDBException e) {
            throw failed("read", e);
        }
    }

    RocksIterator iterate(Table table, ReadOptions options) {
        return db.newIterator(handle(table), options);
    }

    /** Tells the end of the rows from a failure to read them. */
    void check(RocksIterator rows) {
        try {
            rows.status();
        } catch (RocksDBException e) {
            throw failed("read", e);
        }
    }

    Snapshot snapshot() {
        return db.getSnapshot();
    }

    void release(Snapshot snapshot) {
        db.releaseSnapshot(snapshot);
    }

    void put(WriteBatch batch, Table table, byte[] key, byte[] value) {
        try {
            batch.put(handle(table), key, value);
        } catch (RocksDBException e) {
            throw failed("write", e);
        }
    }

    void delete(WriteBatch batch, Table table, byte[] key) {
        try {
            batch.delete(handle(table), key);
        } catch (RocksDBException e) {
            throw failed("write", e);
        }
    }

    void write(WriteBatch batch) {
        try {
            db.write(writeOptions, batch);
        } catch (RocksDBException e) {
            throw failed("write", e);
        }
    }

    /** Makes all that was written durable, all tables at one point. */
    public void flush() {
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            db.flush(options, new ArrayList<>(handles.values()));
        } catch (RocksDBException e) {
            throw failed("flush", e);
        }
    }

    /** Copies (by hard links where possible) into a folder that must not exist. */
    public void checkpoint(Path folder) {
        try (Checkpoint checkpoint = Checkpoint.create(db)) {
            checkpoint.createCheckpoint(folder.toString());
        } catch (RocksDBException e) {
            throw failed("checkpoint into " + folder, e);
        }
    }

    private StateException failed(String what, RocksDBException e) {
        String message = "metadata store failed to " + what + ": " + e.getMessage();
        if (isDamage(e)) {
            noteDamage(message);
            return StateException.damaged(message + DAMAGE_REMEDY, e);
        }
        return new StateException(message + remedy(e), e);
    }

    private static String remedy(RocksDBException e) {
        if (Disk.isFull(e)) {
            return ". The disk is full. " + Disk.FULL_REMEDY;
        }
        return OpenFiles.areUsedUp(e) ? ". " + OpenFiles.remedy() : "";
    }

    private synchronized void noteDamage(String message) {
        try {
            Folders.write(folder.resolve(DAMAGE_NOTE), message);
        } catch (IOException e) {
            LOG.error("{}: that it is damaged cannot be noted there: {}", folder, e.toString());
        }
    }

    @Override
    public void close() {
        newest.close();
        handles.values().forEach(ColumnFamilyHandle::close);
        db.close();
        dbOptions.close();
        tableOptions.close();
        bloom.close();
        cache.close();
        writeOptions.close();
        readOptions.close();
    }
}
