package org.globalfs.cli.server;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.ChunkSource;
import org.globalfs.datastore.s3.BlockOwner;
import org.globalfs.datastore.s3.BucketUpkeep;
import org.globalfs.datastore.s3.S3BlockStore;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.discovery.StoreKind;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.service.Datastore;
import org.jspecify.annotations.Nullable;

/**
 * The datastore as a server's roles use it, through a client of the datastore that is made when it
 * is needed first: making one warms its erasure code up, which no server should wait for at start.
 */
final class LazyBlockStore implements Datastore, ChunkSource, AutoCloseable {
    private final StoreKind kind;
    private final S3Upkeep upkeep;
    private final Supplier<BlockStore> open;
    private @Nullable BlockStore store;
    private long notBeforeMs;
    private boolean closed;

    /**
     * @param storage what the store will be
     */
    LazyBlockStore(BlockStorage storage, Supplier<BlockStore> open) {
        this.kind = storage.kind();
        this.upkeep = storage.upkeep();
        this.open = open;
    }

    @Override
    public List<BlockRef> delete(List<BlockRef> blocks) throws IOException {
        return store().deleteAll(blocks);
    }

    @Override
    public void list(int partition, Consumer<BlockRef> each) throws IOException {
        store().list(partition, each);
    }

    @Override
    public BlockStore.Census count(int partition, List<BlockRef> blocks) throws IOException {
        return store().count(partition, blocks);
    }

    @Override
    public boolean isReadable(BlockRef block) throws IOException {
        return store().isReadable(block);
    }

    @Override
    public synchronized void newBlocksNotBefore(long timeMs) {
        notBeforeMs = Math.max(notBeforeMs, timeMs);
        if (store != null) {
            store.newBlocksNotBefore(timeMs);
        }
    }

    @Override
    public BlockRef copy(BlockRef block, int region) throws IOException {
        return store().copy(block, region);
    }

    @Override
    public Optional<BucketUpkeep> lookAfter(int partition, BlockOwner owner) throws IOException {
        if (kind != StoreKind.S3 || !(store() instanceof S3BlockStore buckets)) {
            return Optional.empty();
        }
        return Optional.of(buckets.lookAfter(partition, owner, upkeep));
    }

    @Override
    public byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException {
        if (store() instanceof DistributedBlockStore nodes) {
            return nodes.chunk(key, shape);
        }
        throw new IOException("this cluster has no storage nodes, and so no chunks to make anew");
    }

    private synchronized BlockStore store() throws IOException {
        if (closed) {
            throw new IOException("this server is stopping");
        }
        BlockStore made = store;
        if (made == null) {
            made = open.get();
            made.newBlocksNotBefore(notBeforeMs);
            store = made;
        }
        return made;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (store != null) {
            store.close();
        }
    }
}
