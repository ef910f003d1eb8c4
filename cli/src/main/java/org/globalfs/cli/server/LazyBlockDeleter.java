package org.globalfs.cli.server;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.service.BlockDeleter;
import org.jspecify.annotations.Nullable;

/**
 * Deletes blocks through a client of the datastore that is made at the first deletion: making one
 * warms its erasure code up, which a server that only ever deletes should not wait for at start.
 */
final class LazyBlockDeleter implements BlockDeleter, AutoCloseable {
    private final Supplier<BlockStore> open;
    private @Nullable BlockStore store;
    private boolean closed;

    LazyBlockDeleter(Supplier<BlockStore> open) {
        this.open = open;
    }

    @Override
    public List<BlockRef> delete(List<BlockRef> blocks) throws IOException {
        return store().deleteAll(blocks);
    }

    private synchronized BlockStore store() throws IOException {
        if (closed) {
            throw new IOException("this server is stopping");
        }
        BlockStore made = store;
        if (made == null) {
            made = open.get();
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
