package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of a coded block: from the data chunks that it lies in, or the k nearest where
 * those are farther; as soon as one of them fails or is late, from any k chunks. Of a range within
 * one chunk the same bytes of the others are enough. Chunks that the reader has already, from a
 * cache, are not asked for, and spare others. Not thread-safe: the reader's.
 */
final class SpreadRead {
    private final ReedSolomon code;
    private final int chunkBytes;
    private final int offset;
    private final int length;

    /** The bytes of each chunk that are read. */
    private final int from;

    private final int width;

    private final byte[] @Nullable [] columns;
    private final List<BlockStoreException> failures = new ArrayList<>();
    private final boolean[] asked;
    private int whole;

    /** Requests to buckets that have not ended. */
    private int underWay;

    /** Begins to read bytes of one chunk, verified; its tag is its index. */
    interface Fetch {
        void start(int chunk, int from, int bytes) throws IOException;
    }

    @SuppressWarnings("NullAway") // an array of chunks that are not there yet
    SpreadRead(ReedSolomon code, int blockBytes, int offset, int length) {
        this.code = code;
        this.chunkBytes = code.chunkBytes(blockBytes);
        this.offset = offset;
        this.length = length;
        boolean withinOne = offset / chunkBytes == (offset + length - 1) / chunkBytes;
        this.from = withinOne ? offset % chunkBytes : 0;
        this.width = withinOne ? length : chunkBytes;
        this.columns = new byte[code.chunks()][];
        this.asked = new boolean[code.chunks()];
    }

    /** The chunks that the range lies in: a bit by chunk index. */
    long wanted() {
        long wanted = 0;
        for (int c = first(); c <= last(); c++) {
            wanted |= 1L << c;
        }
        return wanted;
    }

    /** The first byte of each chunk that is read. */
    int from() {
        return from;
    }

    /** Bytes of each chunk that are read. */
    int width() {
        return width;
    }

    private int first() {
        return offset / chunkBytes;
    }

    private int last() {
        return (offset + length - 1) / chunkBytes;
    }

    /** Takes those bytes of a chunk. */
    void have(int chunk, byte[] column) {
        if (columns[chunk] == null) {
            columns[chunk] = column;
            whole++;
        }
        asked[chunk] = true;
    }

    /**
     * Asks for what lacks of the range, or for what it can be decoded from sooner ({@link
     * ChunkChoice}).
     *
     * @param waysNs how far away each chunk is, by index
     */
    void start(Fetch fetch, long[] waysNs) throws IOException {
        long others = 0;
        for (int c = 0; c < code.chunks(); c++) {
            others |= asked[c] ? 0 : 1L << c;
        }
        long lacking = wanted() & others;
        int enough = code.dataChunks() - whole;
        for (int c : ChunkChoice.of(lacking, others & ~lacking, enough, waysNs, width)) {
            ask(fetch, c);
        }
    }

    private void ask(Fetch fetch, int chunk) throws IOException {
        if (!asked[chunk]) {
            asked[chunk] = true;
            fetch.start(chunk, from, width);
            underWay++;
        }
    }

    /**
     * Returns once the range can be had from what came. Where the others do not answer in time
     * either, or fail, what a cache has counts as well.
     *
     * @param transfers of all that the fetch starts
     * @param cache to be asked then
     * @param lateNs what was started has to come until then, else all others are asked too
     */
    void run(
            Fetch fetch,
            Transfers<Map<Integer, byte[]>> transfers,
            CacheAsk cache,
            long lateNs,
            long deadline)
            throws IOException {
        boolean others = false;
        long untilNs = lateNs;
        while (!hasRange() && whole < code.dataChunks()) {
            if (others && underWay == 0) {
                if (areAllLost() || !cache.isLeft() && transfers.underWay() == 0) {
                    throw lost();
                }
                cache.again(transfers);
            }
            var outcome = transfers.next(Math.min(untilNs, deadline));
            if (outcome == null && System.nanoTime() - deadline >= 0) {
                throw late();
            }
            if (outcome != null && took(outcome)) {
                continue;
            }
            if (!others) {
                for (int c = 0; c < code.chunks(); c++) {
                    ask(fetch, c);
                }
                others = true;
                untilNs = System.nanoTime() + S3BlockStore.LATE_NS;
            } else if (outcome == null) {
                cache.again(transfers);
                untilNs = deadline;
            }
        }
        rebuild();
    }

    /** False: a bucket failed. */
    private boolean took(Transfers.Outcome<Map<Integer, byte[]>> outcome) {
        boolean fromCache = outcome.tag() == CacheAsk.TAG;
        underWay -= fromCache ? 0 : 1;
        if (outcome.value() != null) {
            outcome.value().forEach(this::have);
        } else if (!fromCache) {
            failures.add(outcome.why());
        }
        return fromCache || outcome.value() != null;
    }

    /** What was found out on the way although the range could be read. */
    List<BlockStoreException> failures() {
        return failures;
    }

    private boolean hasRange() {
        for (int c = first(); c <= last(); c++) {
            if (columns[c] == null) {
                return false;
            }
        }
        return true;
    }

    private void rebuild() {
        if (hasRange()) {
            return;
        }
        int[] wanted =
                IntStream.rangeClosed(first(), last()).filter(c -> columns[c] == null).toArray();
        byte[][] output = code.rebuild(columns, wanted, width);
        for (int i = 0; i < wanted.length; i++) {
            columns[wanted[i]] = output[i];
        }
    }

    /** Puts the range into an array, once it is there. */
    void copy(byte[] into, int at) {
        int copied = 0;
        while (copied < length) {
            int within = (offset + copied) % chunkBytes;
            int bytes = Math.min(length - copied, chunkBytes - within);
            byte[] column = columns[(offset + copied) / chunkBytes];
            if (column == null) {
                throw new IllegalStateException("a chunk of the range is neither read nor rebuilt");
            }
            System.arraycopy(column, within - from, into, at + copied, bytes);
            copied += bytes;
        }
    }

    private boolean areAllLost() {
        return failures.stream().allMatch(e -> e.reason() == Reason.LOST);
    }

    private BlockStoreException lost() {
        return new BlockStoreException(
                areAllLost() ? Reason.LOST : Reason.UNREACHABLE,
                "only "
                        + whole
                        + " of "
                        + code.chunks()
                        + " chunks can be read, "
                        + code.dataChunks()
                        + " are needed: "
                        + failures.getLast().getMessage(),
                failures.getLast());
    }

    private BlockStoreException late() {
        return new BlockStoreException(
                Reason.UNREACHABLE,
                "only " + whole + " of " + code.dataChunks() + " chunks came before the deadline");
    }
}
