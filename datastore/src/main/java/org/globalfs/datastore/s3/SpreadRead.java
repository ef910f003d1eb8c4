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
 * Reads a range of a coded block: the data chunks that it lies in, or, as soon as one of them fails
 * or is late, any k chunks.
 */
final class SpreadRead {
    private final ReedSolomon code;
    private final int chunkBytes;
    private final byte[] @Nullable [] chunks;
    private final List<BlockStoreException> failures = new ArrayList<>();
    private final Fetch fetch;
    private int whole;

    /** Begins to read one chunk, verified; its tag is its index. */
    interface Fetch {
        void start(int chunk) throws IOException;
    }

    @SuppressWarnings("NullAway") // an array of chunks that are not there yet
    SpreadRead(ReedSolomon code, int blockBytes, Fetch fetch) {
        this.code = code;
        this.chunkBytes = code.chunkBytes(blockBytes);
        this.chunks = new byte[code.chunks()][];
        this.fetch = fetch;
    }

    void run(
            Transfers<byte[]> transfers,
            int offset,
            byte[] into,
            int at,
            int length,
            long lateNs,
            long deadline)
            throws IOException {
        int first = offset / chunkBytes;
        int last = (offset + length - 1) / chunkBytes;
        for (int c = first; c <= last; c++) {
            fetch.start(c);
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
                chunks[outcome.tag()] = outcome.value();
                whole++;
                continue;
            }
            if (outcome != null && outcome.failure() != null) {
                failures.add(outcome.failure());
            }
            for (int c = 0; c < code.chunks() && !others; c++) {
                if (c < first || c > last) {
                    fetch.start(c);
                }
            }
            others = true;
        }
        rebuild(first, last);
        copy(offset, into, at, length);
    }

    /** What was found out on the way although the range could be read. */
    List<BlockStoreException> failures() {
        return failures;
    }

    private boolean has(int first, int last) {
        for (int c = first; c <= last; c++) {
            if (chunks[c] == null) {
                return false;
            }
        }
        return true;
    }

    private void rebuild(int first, int last) {
        if (has(first, last)) {
            return;
        }
        int[] wanted = IntStream.rangeClosed(first, last).filter(c -> chunks[c] == null).toArray();
        byte[][] output = code.rebuild(chunks, wanted, chunkBytes);
        for (int i = 0; i < wanted.length; i++) {
            chunks[wanted[i]] = output[i];
        }
    }

    private void copy(int offset, byte[] into, int at, int length) {
        int copied = 0;
        while (copied < length) {
            int from = (offset + copied) % chunkBytes;
            int bytes = Math.min(length - copied, chunkBytes - from);
            byte[] chunk = chunks[(offset + copied) / chunkBytes];
            if (chunk == null) {
                throw new IllegalStateException("a chunk of the range is neither read nor rebuilt");
            }
            System.arraycopy(chunk, from, into, at + copied, bytes);
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
