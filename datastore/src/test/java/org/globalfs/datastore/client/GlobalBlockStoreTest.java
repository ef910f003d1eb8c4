package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The block store's contract for blocks that are spread over three regions' nodes. */
@Timeout(180)
class GlobalBlockStoreTest extends BlockStoreContract {
    @TempDir Path folder;
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = StorageCluster.ofThreeRegions(folder);
        store = cluster.client();
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    @Override
    protected BlockStore store() {
        return store;
    }

    @Override
    protected int region() {
        return 0;
    }
}
