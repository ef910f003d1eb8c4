package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import org.globalfs.protocol.wire.BlockRef;

/** The partition that blocks belong to, as {@link BucketUpkeep} asks it. Thread-safe. */
public interface BlockOwner {

    /**
     * Whether this process is the one that looks after the partition's blocks. Two that believe so
     * at once do the same work twice, and no harm.
     */
    boolean leads();

    /**
     * Those of the blocks that some file has, as of a moment after the call began: whoever deletes
     * one of these begins after that moment. No file will ever have one again that is not among
     * them, and was before.
     *
     * @throws IOException nobody can say so now; this process may lead no longer
     */
    Set<BlockRef> inUse(Collection<BlockRef> blocks) throws IOException;
}
