package org.globalfs.datastore;

import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.s3.S3BlockStore;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.RecordedStore;

/** Opens the block store that a cluster has. */
public final class BlockStores {
    private BlockStores() {}

    /**
     * @param region where this process is
     * @param recorded what the cluster has, which {@code storage} agrees with
     */
    public static BlockStore open(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery,
            PlacementEpochs epochs) {
        return open(cluster, region, recorded, storage, discovery, epochs, false);
    }

    /** As {@link #open}, for what no program waits for. */
    public static BlockStore openInBackground(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery,
            PlacementEpochs epochs) {
        return open(cluster, region, recorded, storage, discovery, epochs, true);
    }

    /** Opens it for a cache, which gets chunks from it. */
    public static ChunkOrigin openOrigin(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery,
            PlacementEpochs epochs) {
        return switch (recorded.kind()) {
            case DHT ->
                    DistributedBlockStore.inBackground(cluster, region, discovery, epochs, storage);
            case S3 -> new S3BlockStore(cluster, recorded, storage);
        };
    }

    private static BlockStore open(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery,
            PlacementEpochs epochs,
            boolean background) {
        return switch (recorded.kind()) {
            case DHT ->
                    background
                            ? DistributedBlockStore.inBackground(
                                    cluster, region, discovery, epochs, storage)
                            : new DistributedBlockStore(
                                    cluster, region, discovery, epochs, storage);
            // Who reads in the background reads a block once: no cache should hear of it.
            case S3 ->
                    background
                            ? new S3BlockStore(cluster, recorded, storage)
                            : S3BlockStore.throughCaches(
                                    cluster, region, recorded, storage, discovery);
        };
    }
}
