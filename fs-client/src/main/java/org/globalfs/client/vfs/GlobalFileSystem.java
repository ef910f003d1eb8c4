package org.globalfs.client.vfs;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.IoOptions;
import org.globalfs.client.io.WriteBack;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.SessionLease;
import org.globalfs.client.use.RegionOracle;
import org.globalfs.client.use.UseCounts;
import org.globalfs.client.use.UseReporter;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DirectoryUse;
import org.jspecify.annotations.Nullable;

/**
 * GlobalFS as a {@link FileSystem}: metadata at the replicas, content in blocks, and this client's
 * buffers and caches between.
 *
 * <p>What one client closed, any other that opens it afterwards sees; within a regional partition
 * every read of attributes and names is linearizable. Without grants the kernel is told to remember
 * nothing, and a read of content fetches the file's map anew.
 *
 * <p>Operations are counted as they are asked for, whatever becomes of them: a refusal takes as
 * long. Those that only finish or undo another one (flush, fsync, release) are not.
 */
public final class GlobalFileSystem implements FileSystem {

    private final MetadataClient client;
    private final @Nullable RegionOracle oracle;
    private final UseCounts uses;
    private final MetadataCache cache;
    private final KernelPages pages = new KernelPages();
    private final PageGrants grants;
    private final FileBacking backing;
    private final WriteBack writeBack;
    private final OpenFiles files;
    private final Names names;
    private final Files operations;
    private final Quotas quotas;
    private final Placements placements;
    private final Xattrs xattrs;
    private final Ranges ranges;
    private final Directories directories;
    private final DirectoryReadAhead readAhead;
    private final Statistics statistics;
    private final Recalls recalls;
    private final SessionLease lease;
    private final FileLocks locks;

    /** With the usual lease, and no oracle. */
    public GlobalFileSystem(
            MetadataClient client,
            BlockStore blocks,
            IoOptions options,
            long cacheBytes,
            LongSupplier capacityBytes) {
        this(
                client,
                blocks,
                options,
                cacheBytes,
                capacityBytes,
                new SessionLease(client, Duration.ofSeconds(60)),
                null);
    }

    /**
     * @param cacheBytes memory for metadata
     * @param capacityBytes what the datastore can hold; 0: unknown
     * @param lease somebody else keeps it renewed
     * @param oracle asked about decisions; stays the caller's
     */
    public GlobalFileSystem(
            MetadataClient client,
            BlockStore blocks,
            IoOptions options,
            long cacheBytes,
            LongSupplier capacityBytes,
            SessionLease lease,
            @Nullable RegionOracle oracle) {
        this(
                client,
                blocks,
                options,
                cacheBytes,
                capacityBytes,
                lease,
                oracle,
                Thread.ofPlatform().daemon().factory());
    }

    /**
     * @param listening threads that listen for recalls
     */
    GlobalFileSystem(
            MetadataClient client,
            BlockStore blocks,
            IoOptions options,
            long cacheBytes,
            LongSupplier capacityBytes,
            SessionLease lease,
            @Nullable RegionOracle oracle,
            ThreadFactory listening) {
        this.client = client;
        this.uses = new UseCounts(client.homes()::of);
        this.oracle = oracle;
        AtomicLong numbers = new AtomicLong();
        this.cache = new MetadataCache(client.session().vector(), cacheBytes);
        Duration timeout = options.timeout();
        Requests requests = new Requests(client, cache, timeout.toNanos());
        this.grants = new PageGrants(cache, pages, client.session());
        this.backing = new FileBacking(requests, pages, grants);
        this.writeBack = new WriteBack(backing, blocks, options);
        this.files = new OpenFiles(writeBack, grants, numbers, OpenFiles.MOST_INODES);
        this.readAhead = new DirectoryReadAhead(requests, writeBack);
        Listings listings = new Listings(requests, readAhead);
        this.names = new Names(requests, listings, files, pages, grants, uses);
        this.operations = new Files(requests, names, files, pages, grants, readAhead);
        this.quotas = new Quotas(requests);
        this.placements = new Placements(requests);
        this.xattrs = new Xattrs(requests, names, files, pages, quotas);
        this.directories = new Directories(requests, names, listings, numbers);
        this.statistics = new Statistics(client, capacityBytes);
        this.ranges = new Ranges(requests, files, statistics);
        this.recalls =
                new Recalls(
                        client,
                        cache,
                        new GrownFiles(files, operations::tellSize),
                        files::content,
                        listening);
        cache.onGranted(recalls::granted);
        this.lease = lease;
        this.locks = new FileLocks(requests, files, pages, grants, lease);
        lease.claims(files::openInodes);
    }

    /** Inodes that must stay while they are unlinked. */
    public Set<Long> openInodes() {
        return files.openInodes();
    }

    public SessionLease lease() {
        return lease;
    }

    public MetadataCache cache() {
        return cache;
    }

    /** What was done in which directories. */
    public UseCounts uses() {
        return uses;
    }

    /** As {@link UseReporter.Policies#of}. */
    public @Nullable String policy(long directory) {
        return xattrs.policy(directory);
    }

    @Override
    public Answering answering() {
        return client.session().taking()::close;
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> all = new LinkedHashMap<>();
        cache.counters(all);
        writeBack.counters(all);
        client.counters(all);
        readAhead.counters(all);
        return all;
    }

    @Override
    public void mounted(KernelCache kernel) {
        backing.mounted(kernel);
        grants.mounted(kernel);
        recalls.mounted(kernel);
        names.mounted(kernel);
        operations.mounted(kernel);
        locks.mounted(kernel);
        if (kernel.forgetsAtOnce()) {
            cache.onGlobalDropped(
                    kernel::forgetsAtOnce, told -> kernel.forgetNow(told, MetadataCache.RECENT_NS));
            client.session().vector().onGlobalMoved(cache::globalMoved);
        }
        cache.onDropped((ino, kernelNames, recalled) -> {
            for (byte[] name : kernelNames) {
                kernel.invalidateEntry(ino, name);
            }
            if (recalled) {
                pages.forget(ino);
                kernel.invalidateInode(ino, 0, 0);
            }
        });
    }

    @Override
    public Entry lookup(Caller caller, long parent, byte[] name) throws FsException {
        uses.readIn(parent);
        return names.lookup(caller, parent, name);
    }

    @Override
    public AttributesReply getAttributes(Caller caller, long ino, long handle) throws FsException {
        uses.read(ino);
        return operations.getAttributes(caller, ino, handle);
    }

    @Override
    public AttributesReply setAttributes(Caller caller, long ino, SetAttributes change)
            throws FsException {
        uses.write(ino);
        return operations.setAttributes(caller, ino, change);
    }

    @Override
    public void access(Caller caller, long ino, int mask) throws FsException {
        uses.read(ino);
        operations.access(caller, ino, mask);
    }

    @Override
    public byte[] getXattr(Caller caller, long ino, byte[] name) throws FsException {
        uses.read(ino);
        return xattrs.get(caller, ino, name);
    }

    @Override
    public List<byte[]> listXattr(Caller caller, long ino) throws FsException {
        uses.read(ino);
        return xattrs.list(caller, ino);
    }

    @Override
    public void setXattr(Caller caller, long ino, byte[] name, byte[] value, int flags)
            throws FsException {
        uses.write(ino);
        xattrs.set(caller, ino, name, value, flags);
    }

    @Override
    public void removeXattr(Caller caller, long ino, byte[] name) throws FsException {
        uses.write(ino);
        xattrs.remove(caller, ino, name);
    }

    @Override
    public byte[] readLink(Caller caller, long ino) throws FsException {
        uses.read(ino);
        return names.readLink(caller, ino);
    }

    @Override
    public Entry makeNode(Caller caller, long parent, byte[] name, int mode, int rdev)
            throws FsException {
        uses.writeIn(parent);
        return names.make(caller, new CreateOp(parent, ByteBuffer.wrap(name), mode).setRdev(rdev));
    }

    @Override
    public Entry makeDirectory(Caller caller, long parent, byte[] name, int mode)
            throws FsException {
        uses.writeIn(parent);
        int typed = (mode & 07777) | Stat.DIRECTORY;
        return names.make(caller, new CreateOp(parent, ByteBuffer.wrap(name), typed));
    }

    @Override
    public Entry symbolicLink(Caller caller, long parent, byte[] name, byte[] target)
            throws FsException {
        uses.writeIn(parent);
        int mode = 0777 | Stat.SYMBOLIC_LINK;
        return names.make(
                caller, new CreateOp(parent, ByteBuffer.wrap(name), mode).setTarget(target));
    }

    @Override
    public Entry link(Caller caller, long ino, long newParent, byte[] newName) throws FsException {
        uses.writeIn(newParent);
        return names.link(caller, ino, newParent, newName);
    }

    @Override
    public void unlink(Caller caller, long parent, byte[] name) throws FsException {
        uses.writeIn(parent);
        names.remove(caller, parent, name, false);
    }

    @Override
    public void removeDirectory(Caller caller, long parent, byte[] name) throws FsException {
        uses.writeIn(parent);
        names.remove(caller, parent, name, true);
    }

    @Override
    public void rename(
            Caller caller, long parent, byte[] name, long newParent, byte[] newName, int flags)
            throws FsException {
        if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) != 0) {
            throw FsException.of(Errno.EINVAL);
        }
        uses.writeIn(parent);
        if (newParent != parent) {
            uses.writeIn(newParent);
        }
        names.rename(caller, parent, name, newParent, newName, flags);
    }

    @Override
    public OpenResult open(Caller caller, long ino, int flags) throws FsException {
        if ((flags & OpenFlags.O_TRUNC) != 0) {
            uses.write(ino);
        } else {
            uses.read(ino);
        }
        return operations.open(caller, ino, flags);
    }

    @Override
    public Created create(Caller caller, long parent, byte[] name, int mode, int flags)
            throws FsException {
        uses.writeIn(parent);
        return operations.create(caller, parent, name, mode, flags);
    }

    @Override
    public void read(Caller caller, long ino, long handle, long offset, ByteBuffer into)
            throws FsException {
        uses.read(ino);
        operations.read(caller, ino, handle, offset, into);
    }

    @Override
    public int write(
            Caller caller, long ino, long handle, long offset, ByteBuffer content, int flags)
            throws FsException {
        uses.write(ino);
        return operations.write(caller, handle, offset, content, flags);
    }

    @Override
    public void flush(Caller caller, long ino, long handle) throws FsException {
        operations.flush(handle);
    }

    @Override
    public void flush(Caller caller, long ino, long handle, long lockOwner) throws FsException {
        try {
            operations.flush(handle);
        } finally {
            locks.flushed(caller, ino, lockOwner);
        }
    }

    @Override
    public boolean servesLocks() {
        return true;
    }

    @Override
    public void lock(Caller caller, long ino, long handle, LockRequest request, boolean wait)
            throws FsException {
        uses.write(ino);
        locks.lock(caller, ino, handle, request, wait);
    }

    @Override
    public LockRequest testLock(Caller caller, long ino, long handle, LockRequest request)
            throws FsException {
        uses.read(ino);
        return locks.test(caller, ino, request);
    }

    @Override
    public void release(long ino, long handle) {
        locks.released(ino, handle);
        files.release(handle);
    }

    @Override
    public void sync(Caller caller, long ino, long handle, boolean dataOnly) throws FsException {
        operations.sync(handle);
    }

    @Override
    public long seek(Caller caller, long ino, long handle, long offset, int whence)
            throws FsException {
        uses.read(ino);
        return operations.seek(caller, handle, offset, whence);
    }

    @Override
    public void allocate(Caller caller, long ino, long handle, long offset, long length, int mode)
            throws FsException {
        uses.write(ino);
        ranges.allocate(caller, handle, offset, length, mode);
    }

    @Override
    public long copyRange(Caller caller, Range source, Range target, long length, long flags)
            throws FsException {
        uses.read(source.ino());
        uses.write(target.ino());
        return ranges.copy(caller, source, target, length, flags);
    }

    @Override
    public Created createTemporary(Caller caller, long parent, int mode, int flags)
            throws FsException {
        uses.writeIn(parent);
        return operations.createTemporary(caller, parent, mode, flags);
    }

    @Override
    public OpenResult openDirectory(Caller caller, long ino, int flags) throws FsException {
        uses.readIn(ino);
        return directories.open(caller, ino);
    }

    @Override
    public void readDirectory(Caller caller, long ino, long handle, long cookie, DirectorySink sink)
            throws FsException {
        uses.readIn(ino);
        directories.read(caller, ino, handle, cookie, sink);
    }

    @Override
    public long parentOf(Caller caller, long ino) throws FsException {
        return names.parentOf(caller, ino);
    }

    @Override
    public void releaseDirectory(long ino, long handle) {
        directories.release(handle);
    }

    /** Every update of names is durable before it returns. */
    @Override
    public void syncDirectory(Caller caller, long ino, long handle, boolean dataOnly) {}

    @Override
    public StatFs statFs(Caller caller, long ino) {
        return statistics.get(() -> quotas.of(caller, ino));
    }

    @Override
    public List<QuotaUsage> quotas(Caller caller) throws FsException {
        return quotas.all(caller);
    }

    @Override
    public Map<String, Long> placement(Caller caller, long ino) throws FsException {
        Map<String, Long> counts = new TreeMap<>();
        placements
                .count(caller, ino)
                .forEach((partition, count) -> counts.put(client.regionOf(partition), count));
        return counts;
    }

    @Override
    public Explanation explain(Caller caller, long ino) throws FsException {
        if (oracle == null) {
            throw FsException.of(Errno.ENOSYS);
        }
        List<DirectoryUse> way = uses.way(ino);
        way.forEach(use -> use.setPolicy(policy(use.getIno())));
        return placements.explain(oracle, way, ino);
    }

    @Override
    public long move(Caller caller, long ino, String region, LongConsumer moved)
            throws FsException {
        Integer partition =
                region.equals(Topology.GLOBAL_NAME)
                        ? Integer.valueOf(Topology.GLOBAL)
                        : client.regions().get(region);
        if (partition == null) {
            throw FsException.of(
                    Errno.EINVAL,
                    "there is no region '"
                            + region
                            + "'; there are "
                            + String.join(", ", client.regions().keySet())
                            + " and "
                            + Topology.GLOBAL_NAME);
        }
        return placements.move(caller, ino, partition, moved);
    }

    @Override
    public void syncAll() {
        writeBack.flushAll();
    }

    @Override
    public void close() {
        readAhead.close();
        writeBack.close();
        recalls.close();
        grants.close();
        locks.close();
    }
}
