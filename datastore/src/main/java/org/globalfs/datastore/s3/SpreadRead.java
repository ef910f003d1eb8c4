package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of a coded block: from the data chunks that it lies in, or, as soon as one of them
 * fails or is late, from any k chunks. Of a range within one chunk the same bytes of the others are
 * enough.
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
    private final Fetch fetch;
    private int whole;

    /** Begins to read bytes of one chunk, verified; its tag is its index. */
    interface Fetch {
        void start(int chunk, int from, int bytes) throws IOException;
    }

    @SuppressWarnings("NullAway") // an array of chunks that are not there yet
    SpreadRead(ReedSolomon code, int blockBytes, int offset, int length, Fetch fetch) {
        this.code = code;
        this.chunkBytes = code.chunkBytes(blockBytes);
        this.offset = offset;
        this.length = length;
        boolean withinOne = offset / chunkBytes == (offset + length - 1) / chunkBytes;
        this.from = withinOne ? offset % chunkBytes : 0;
        this.width = withinOne ? length : chunkBytes;
        this.columns = new byte[code.chunks()][];
        this.fetch = fetch;
    }

    void run(Transfers<byte[]> transfers, byte[] into, int at, long lateNs, long deadline)
            throws IOException {
        int first = offset / chunkBytes;
        int last = (offset + length - 1) / chunkBytes;
        for (int c = first; c <= last; c++) {
            fetch.start(c, from, width);
        }
        boolean others = false;
        while (!has(first, last) && whole < code.dataChunks()) {
            if (others && transfers.underWay() == 0) {
                throw lost();
            }
            var outcome = transfers.next(others ? deadline : Math.min(lateNs, deadline));
            if (outcome == null && others) {
                throw late();
            }
            if (outcome != null && outcome.value() != null) {
                columns[outcome.tag()] = outcome.value();
                whole++;
                continue;
            }
            if (outcome != null && outcome.failure() != null) {
                failures.add(outcome.failure());
            }
            for (int c = 0; c < code.chunks() && !others; c++) {
                if (c < first || c > last) {
                    fetch.start(c, from, width);
                }
            }
            others = true;
        }
        rebuild(first, last);
        copy(into, at);
    }

    /** What was found out on the way although the range could be read. */
    List<BlockStoreException> failures() {
        return failures;
    }

    private boolean has(int first, int last) {
        for (int c = first; c <= last; c++) {
            if (columns[c] == null) {
                return false;
            }
        }
        return true;
    }

    private void rebuild(int first, int last) {
        if (has(first, last)) {
            return;
        }
        int[] wanted = IntStream.rangeClosed(first, last).filter(c -> columns[c] == null).toArray();
        byte[][] output = code.rebuild(columns, wanted, width);
        for (int i = 0; i < wanted.length; i++) {
            columns[wanted[i]] = output[i];
        }
    }

    private void copy(byte[] into, int at) {
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

    private BlockStoreException lost() {
        boolean allAnswered = failures.stream().allMatch(e -> e.reason() == Reason.LOST);
        return new BlockStoreException(
                allAnswered ? Reason.LOST : Reason.UNREACHABLE,
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
