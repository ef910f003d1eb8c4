package org.globalfs.replica.service;

import java.io.IOException;
import org.globalfs.protocol.wire.BlockRef;

/** The datastore, as far as the replica uses it. */
@FunctionalInterface
public interface BlockDeleter {

    /**
     * Deletes a block's content; one that is gone already is no error. An exception: to be tried
     * again later.
     */
    void delete(BlockRef block) throws IOException;
}
