package org.globalfs.client.vfs;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.FileSystemStatistics;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.StatFsOp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Use and size of the whole file system, a few seconds old. */
final class Statistics {

    private static final Logger LOG = LoggerFactory.getLogger(Statistics.class);
    private static final int BLOCK_BYTES = 4096;
    private static final int NAME_MAX = 255;
    private static final long KEPT_NS = 5_000_000_000L;
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long FILES_MAX = 1L << 40;

    private final MetadataClient client;
    private final LongSupplier capacityBytes;
    private final Map<Integer, FileSystemStatistics> counts = new ConcurrentHashMap<>();
    private long askedNs = System.nanoTime() - KEPT_NS;

    /** {@code capacityBytes}: what the storage nodes can hold, parity taken off; 0: unknown. */
    Statistics(MetadataClient client, LongSupplier capacityBytes) {
        this.client = client;
        this.capacityBytes = capacityBytes;
    }

    /** Which quotas bound what is asked about. */
    interface Bounds {
        List<Quota> quotas() throws FsException;
    }

    /** As the tightest quota lets it appear, as if the tree were a file system of its own. */
    StatFs get(Bounds bounds) {
        StatFs whole = get();
        List<Quota> quotas;
        try {
            quotas = bounds.quotas();
        } catch (FsException e) {
            LOG.debug("quotas are not known now", e);
            return whole;
        }
        long blocks = whole.blocks();
        long free = whole.blocksFree();
        boolean unknown = capacityBytes.getAsLong() == 0;
        long files = whole.files();
        long filesFree = whole.filesFree();
        for (Quota quota : quotas.reversed()) {
            if (quota.getBytes() > 0) {
                long left = Math.max(0, quota.getBytes() - quota.getUsedBytes());
                blocks = quota.getBytes() / BLOCK_BYTES;
                free = Math.min(unknown ? Long.MAX_VALUE : free, left / BLOCK_BYTES);
                unknown = false;
            }
            if (quota.getInodes() > 0) {
                files = quota.getInodes();
                filesFree = Math.min(filesFree, Math.max(0, files - quota.getUsedInodes()));
            }
        }
        return new StatFs(BLOCK_BYTES, blocks, free, free, files, filesFree, NAME_MAX);
    }

    /** A partition that does not answer counts with what it said last. */
    synchronized StatFs get() {
        if (System.nanoTime() - askedNs >= KEPT_NS) {
            client.partitions().stream()
                    .map(partition ->
                            CompletableFuture.runAsync(
                                    () -> ask(partition), Thread::startVirtualThread))
                    .toList()
                    .forEach(CompletableFuture::join);
            askedNs = System.nanoTime();
        }
        long bytes = 0;
        long inodes = 0;
        for (FileSystemStatistics count : counts.values()) {
            bytes += count.getBytes();
            inodes += count.getInodes();
        }
        long used = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
        long capacity = capacityBytes.getAsLong() / BLOCK_BYTES;
        long free = Math.max(0, capacity - used);
        return new StatFs(
                BLOCK_BYTES,
                Math.max(capacity, used),
                free,
                free,
                FILES_MAX,
                FILES_MAX - inodes,
                NAME_MAX);
    }

    /** Whether so many bytes more are certainly too many. */
    boolean exceededBy(long bytes) {
        if (capacityBytes.getAsLong() == 0) {
            return false;
        }
        StatFs now = get();
        return bytes / now.blockSizeBytes() > now.blocksAvailable();
    }

    private void ask(int partition) {
        ReadReply reply =
                client.read(
                                partition,
                                new Credentials(0, 0),
                                ReadOp.statFs(new StatFsOp()),
                                Patience.of(PATIENCE))
                        .reply();
        if (reply.getErrno() == 0 && reply.isSetStatistics()) {
            counts.put(partition, reply.getStatistics());
        }
    }
}
