package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.datastore.wire.ChunkKey;

/**
 * Steps of a storage node's work between which a crash must do no harm: a test is told of each, and
 * can look at the disk there, or stop the node. In production nobody listens.
 */
@FunctionalInterface
public interface FaultPoints {

    /** What has just been done. */
    enum Step {
        /** A segment file exists, without a header. */
        SEGMENT_BORN,
        /** Its header and its name are on disk. */
        SEGMENT_CREATED,
        /** All its records are on disk, and its end is cut. */
        SEGMENT_CUT,
        SEGMENT_SEALED,
        SEGMENT_REMOVED,
        /** It says that something in it is about to die. */
        SEGMENT_STAMPED,
        /** A record's header stands in the file, its chunk does not. */
        RECORD_BEGUN,
        RECORD_WRITTEN,
        /** Readers find it. */
        RECORD_ENTERED,
        RECORD_DEAD,
        /** A file's content is on disk. */
        SYNCED,
        HOLE_PUNCHED,
        /** Compaction has a second record of a chunk, which readers find. */
        COPY_ENTERED,
        COPIES_SYNCED,
        ORIGINALS_DEAD,
        /** The index, as it was a moment ago, is on its way to the disk. */
        CHECKPOINT,
        /** A chunk is about to go to another node; see {@link ChunkMove}. */
        MOVE_MARKED,
        MOVE_ASKED,
        MOVE_SENT,
        MOVE_ENDED,
        /** A missing chunk was made anew, in memory. */
        CHUNK_MADE,
        /** It is on disk where it belongs, or where it is kept meanwhile. */
        CHUNK_KEPT
    }

    FaultPoints NONE = (step, path) -> {};

    /**
     * @param path the segment file, or the store's folder when the step is about no file
     */
    void reached(Step step, Path path);

    /**
     * A segment file is about to be made.
     *
     * @throws IOException what a kernel would say that does not open it
     */
    default void opening(Path path) throws IOException {}

    /**
     * Zeros are about to be written ahead in a segment.
     *
     * @throws IOException what the kernel would say that does not take them
     */
    default void preparing(Path path) throws IOException {}

    /**
     * A segment file is about to be written or read past the page cache.
     *
     * @throws IOException what a file system would say that does not take it, or the disk
     */
    default void goingDirect(Path path) throws IOException {}

    /**
     * A file is about to be synced: a disk that fails does so here.
     *
     * @throws IOException as the sync would
     */
    default void syncing(Path path) throws IOException {}

    /**
     * A record is about to be read, or all the headers of a segment's.
     *
     * @param offset where the record begins; 0: the headers
     * @throws IOException what a disk that cannot read it would say
     */
    default void reading(Path path, long offset) throws IOException {}

    /**
     * Part of a segment file is about to be read at a start.
     *
     * @throws IOException what a disk that cannot read it would say
     */
    default void scanning(Path path, long from, int bytes) throws IOException {}

    /**
     * A chunk is about to be looked up in the index.
     *
     * @throws java.io.UncheckedIOException as an index that cannot be read would
     */
    default void lookingUp(ChunkKey key) {}

    /** A chunk was read damaged, and is about to be noted as that. */
    default void noting(ChunkKey key) {}

    /**
     * A record is about to be marked as dead.
     *
     * @param offset where its header, or that of the dead ones before it, begins
     * @throws IOException what the kernel says when it cannot read the page, of which that is a
     *     part
     */
    default void ending(Path path, long offset) throws IOException {}
}
