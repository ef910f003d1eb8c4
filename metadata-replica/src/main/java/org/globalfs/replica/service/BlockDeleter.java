package org.globalfs.replica.service;

import java.io.IOException;
import java.util.List;
import org.globalfs.protocol.wire.BlockRef;

/** The datastore, as far as the replica uses it. */
@FunctionalInterface
public interface BlockDeleter {

    /**
     * Deletes the content of blocks and returns those of which nothing is left; one that is gone
     * already is no error. The others, or all after an exception, are to be tried again later.
     */
    List<BlockRef> delete(List<BlockRef> blocks) throws IOException;
}
