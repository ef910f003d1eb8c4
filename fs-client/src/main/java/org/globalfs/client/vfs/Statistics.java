package org.globalfs.client.vfs;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.FileSystemStatistics;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.StatFsOp;

/** Use and size of the whole file system, a few seconds old. */
final class Statistics {

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

    /** A partition that does not answer counts with what it said last. */
    synchronized StatFs get() {
        if (System.nanoTime() - askedNs >= KEPT_NS) {
            client.partitions().parallelStream().forEach(this::ask);
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
