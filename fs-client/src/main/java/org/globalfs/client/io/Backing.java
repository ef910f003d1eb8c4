package org.globalfs.client.io;

import java.util.List;
import java.util.function.Consumer;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas hold of a file, and the way to change it: the seam between buffered content and
 * metadata.
 */
public interface Backing {

    /** The content map, if it is certain right now without asking; else null. */
    @Nullable ContentMap known(long ino);

    /** A map that covers the range and is no older than this call. */
    ContentMap fetch(long ino, long offset, long length, Patience patience) throws ContentException;

    /** A map from the offset on, as far as one answer reaches; no older than this call. */
    ContentMap page(long ino, long offset, Patience patience) throws ContentException;

    /** The partition that the file lives in: its content is stored in that one's region. */
    int home(long ino);

    default Answer<UpdateReply> update(
            long ino, Credentials credentials, UpdateOp op, Patience patience) {
        return update(ino, credentials, op, patience, attributes -> {});
    }

    /**
     * Likewise.
     *
     * @param made is told what it made of the inode, before any cache learns of that
     */
    Answer<UpdateReply> update(
            long ino,
            Credentials credentials,
            UpdateOp op,
            Patience patience,
            Consumer<Attributes> made);

    /**
     * This update, made through {@link #update}, wrote these extents (at their real offsets) or
     * changed the size. Called with the file's content locked, so that what {@link #known} says and
     * what is buffered stay in step.
     */
    void changed(long ino, UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer);

    /**
     * An update through {@link #update} changed the content map in another way than by writing.
     * Called with the file's content locked.
     */
    void rearranged(long ino);

    /**
     * Data written to the file will never be committed, or a change of it failed that may have been
     * made all the same: nobody may go on believing what he has of it.
     */
    void lost(long ino);
}
