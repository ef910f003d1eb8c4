package org.globalfs.client.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CompactOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts one MiB of a file into one block, when its bytes are in too many pieces, or too many of them
 * are in the metadata. Holes of 4 KiB and more stay; smaller ones become zeros, as on any file
 * system with blocks of that size. The replicas refuse it when anything changed since the pieces
 * were read.
 */
final class Compaction {

    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

    static final long WINDOW_BYTES = 1 << 20;

    /** Extents from this length on fragment nothing. */
    static final long SMALL_BYTES = 64 << 10;

    /** A client looks at what it wrote of a file after so many small extents. */
    static final int LOOK_AFTER_EXTENTS = 32;

    /** MiBs looked at then. */
    static final int WINDOWS_NOTED = 64;

    /** Pieces of a MiB beyond one for each run of data. */
    static final int EXTENTS_MAX = 128;

    /** Bytes of a MiB, once the file goes beyond it, that may be in the metadata. */
    static final long EMBEDDED_MAX = 256 << 10;

    private static final long HOLE_BYTES = 4096;

    /** How long storage may keep those waiting who write the file. */
    private static final long STORAGE_MS = 3_000;

    private static final Credentials SYSTEM = new Credentials(0, 0);

    private final long ino;
    private final long start;
    private final Backing backing;
    private final WriteBack writeBack;

    Compaction(long ino, long start, Backing backing, WriteBack writeBack) {
        this.ino = ino;
        this.start = start;
        this.backing = backing;
        this.writeBack = writeBack;
    }

    /** Bytes that follow each other without a hole worth keeping. */
    private record Run(long offset, long end, boolean whole) {}

    record Done(UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer) {}

    /**
     * @param failed the MiB may be as it was, though it is not well, and may be tried again
     * @param done null: nothing was
     */
    record Outcome(boolean failed, @Nullable Done done) {
        private static final Outcome LEFT = new Outcome(false, null);
        private static final Outcome FAILED = new Outcome(true, null);
    }

    /** Whether it is worth asking, as far as is known. */
    boolean isDue(@Nullable ContentMap known) {
        return known == null
                || !known.covers(start, start + WINDOW_BYTES)
                || !runs(known).isEmpty();
    }

    /** The runs to be rewritten; none when the MiB is well. */
    private List<Run> runs(ContentMap map) {
        List<Piece> pieces = map.within(start, start + WINDOW_BYTES);
        List<Run> runs = new ArrayList<>();
        long embedded = 0;
        int known = 0;
        for (Piece piece : pieces) {
            boolean inBlock = piece.source() instanceof Source.Block;
            embedded += inBlock ? 0 : piece.length();
            Run last = runs.isEmpty() ? null : runs.getLast();
            if (last != null && piece.offset() - last.end < HOLE_BYTES) {
                runs.set(runs.size() - 1, new Run(last.offset, piece.end(), false));
            } else {
                runs.add(new Run(piece.offset(), piece.end(), inBlock));
            }
            known++;
        }
        boolean full = map.size() >= start + WINDOW_BYTES;
        boolean due = known - runs.size() > EXTENTS_MAX || full && embedded > EMBEDDED_MAX;
        runs.removeIf(Run::whole);
        return due ? runs : List.of();
    }

    /**
     * Has in the cache what {@link #run} will read, as whoever writes the file does not wait for
     * this. False: it cannot be had now.
     */
    boolean fetchedAhead() {
        Patience patience = Patience.of(writeBack.options().timeout());
        try {
            ContentMap map = backing.fetch(ino, start, WINDOW_BYTES, patience);
            fetchBlocks(map, runs(map), patience.deadlineNs());
            return true;
        } catch (ContentException e) {
            return e.errno() != Errno.EIO; // else it is gone, above all
        } catch (IOException e) {
            LOG.info("inode {} stays fragmented at {}: {}", ino, start, e.getMessage());
            return false;
        }
    }

    /** Looks, and does what is needed. Nothing else may be committed to the file meanwhile. */
    Outcome run() {
        Patience patience = Patience.of(writeBack.options().timeout());
        try {
            ContentMap map = backing.fetch(ino, start, WINDOW_BYTES, patience);
            List<Run> runs = runs(map);
            return runs.isEmpty() ? Outcome.LEFT : rewrite(map, runs, patience);
        } catch (ContentException e) {
            // Else it is gone, above all.
            return failed(e.errno() == Errno.EIO, e.getMessage());
        } catch (IOException e) {
            return failed(true, e.getMessage());
        }
    }

    /**
     * @param passes whether it may succeed later
     */
    private Outcome failed(boolean passes, @Nullable String why) {
        LOG.info("inode {} stays fragmented at {}: {}", ino, start, why);
        return passes ? Outcome.FAILED : Outcome.LEFT;
    }

    private Outcome rewrite(ContentMap map, List<Run> runs, Patience patience) throws IOException {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STORAGE_MS);
        fetchBlocks(map, runs, deadlineNs);
        ByteBuffer content = ByteBuffer.allocate((int) WINDOW_BYTES);
        for (Run run : runs) {
            int length = (int) (run.end - run.offset);
            ByteBuffer part = content.slice(content.position(), length);
            ContentView.committed().compose(writeBack.cache(), run.offset, part, map, 0);
            content.position(content.position() + length);
        }
        BlockRef block = writeBack.storeNow(ino, content.flip().slice(), deadlineNs);
        List<Extent> extents = new ArrayList<>(runs.size());
        int at = 0;
        for (Run run : runs) {
            long length = run.end - run.offset;
            extents.add(new Extent(run.offset, length).setBlock(block).setBlockOffset(at));
            at += (int) length;
        }
        UpdateOp op = UpdateOp.compact(new CompactOp(ino, map.version(), extents));
        Answer<UpdateReply> answer = backing.update(ino, SYSTEM, op, patience);
        if (!answer.answered()) {
            // It may still be executed: the block has to stay.
            return Outcome.FAILED;
        }
        if (answer.reply().getErrno() != 0) {
            if (answer.reply().isSetFence()) {
                writeBack.newBlocksNotBefore(answer.reply().getFence()); // for the next look
            }
            writeBack.delete(List.of(block));
            Errno errno = Errno.of(answer.reply().getErrno());
            if (errno == Errno.EAGAIN) {
                return Outcome.FAILED; // somebody has just written to it
            }
            return failed(false, errno.name());
        }
        return new Outcome(false, new Done(op, extents, answer));
    }

    /** Has in the cache what is in blocks, or fails soon. */
    private void fetchBlocks(ContentMap map, List<Run> runs, long deadlineNs) throws IOException {
        List<CompletableFuture<ByteBuffer>> slices = new ArrayList<>();
        for (Run run : runs) {
            for (Piece piece : map.within(run.offset, run.end)) {
                if (piece.source() instanceof Source.Block(BlockRef ref)) {
                    slices.addAll(
                            writeBack.cache().fetch(ref, (int) piece.from(), (int) piece.length()));
                }
            }
        }
        try {
            CompletableFuture.allOf(slices.toArray(CompletableFuture[]::new))
                    .get(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IOException("its blocks are not to be had: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while reading blocks", e);
        }
    }
}
