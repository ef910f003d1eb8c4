package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.node.Makers;
import org.globalfs.datastore.node.Pace;
import org.globalfs.datastore.s3.Buckets.Look;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes objects of blocks anew that are missing or damaged, from the blocks' others.
 *
 * <p>Invariant: whatever it, writers and deleters do at once, and wherever any of them stops, what
 * files have is never less or other than without it, and of what no file has nothing stays for
 * good.
 *
 * <ol>
 *   <li>It writes objects only of blocks that the partition says are in use, before; and asks again
 *       once the last write has ended. Who deletes a block begins after the partition has given it
 *       up. If the block is in use the second time, every deletion begins after the write, and
 *       takes what was written along. If it is not, what was written is deleted here: no file will
 *       have the block again.
 *   <li>If it stops between the two, or the partition cannot be asked again, what was written
 *       stays: either it belongs there, or it is an object of a block that no file has and that is
 *       older than the sweep's fence, which finds it by its name, as it finds what a writer left
 *       behind. The same holds for a request that was given up and is carried out later
 *       nevertheless.
 *   <li>It deletes objects only of blocks that are given up for good, so never a writer's of a
 *       block in use; and what it writes is, byte by byte, what the writer wrote or is writing: an
 *       object is a function of its block.
 *   <li>It decodes only payloads that were read whole and match their checksums, which cover the
 *       block's id and the chunk's index; what it was told to be missing it first reads itself. An
 *       object whose bucket does not answer, or of a newer format, is neither used nor replaced.
 *   <li>A block of which too little is left is reported and stays as it is.
 * </ol>
 *
 * <p>Thread-safe.
 */
final class BlockMender {
    private static final Logger LOG = LoggerFactory.getLogger(BlockMender.class);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final BlockOwner owner;
    private final Pace pace;
    private final Consumer<BlockRef> beforeWrite;

    /**
     * A block that may need it.
     *
     * @param chunks those that are missing or damaged as far as the caller knows, a bit each
     */
    record Suspect(BlockRef ref, long chunks) {}

    /** What was done about a block: how many objects may have been written, and which. */
    private static final class Work {
        final BlockRef ref;
        final List<Integer> written = new ArrayList<>();
        int bad;
        int made;
        String left = "";
        String unclear = "";
        String lost = "";

        Work(BlockRef ref) {
            this.ref = ref;
        }
    }

    /**
     * @param pace of what is written
     * @param beforeWrite told of each block just before its first object is written
     */
    BlockMender(
            Buckets buckets,
            Transfers.Threads threads,
            BlockOwner owner,
            Pace pace,
            Consumer<BlockRef> beforeWrite) {
        this.buckets = buckets;
        this.threads = threads;
        this.owner = owner;
        this.pace = pace;
        this.beforeWrite = beforeWrite;
    }

    /**
     * Looks at blocks, and makes anew what they lack; blocks that no file has are left alone.
     *
     * @throws IOException the partition could not be asked; what was done until then does no harm
     */
    void mend(Collection<Suspect> suspects, PassTally tally) throws IOException {
        Set<BlockRef> before = owner.inUse(suspects.stream().map(Suspect::ref).toList());
        List<Work> all = new ArrayList<>();
        List<Runnable> toDo = new ArrayList<>();
        for (Suspect suspect : suspects) {
            if (before.contains(suspect.ref)) {
                Work work = new Work(suspect.ref);
                all.add(work);
                toDo.add(() -> mend(work, suspect.chunks));
            }
        }
        if (all.isEmpty()) {
            return;
        }
        try (Makers makers = new Makers()) {
            makers.run(toDo);
        }
        Set<BlockRef> after = owner.inUse(all.stream().map(work -> work.ref).toList());
        List<String> undone = new ArrayList<>();
        for (Work work : all) {
            if (after.contains(work.ref)) {
                count(work, tally);
            } else {
                undone.addAll(takeBack(work));
            }
        }
        if (!undone.isEmpty()) {
            LOG.info("for the sweep to delete: {}", undone);
        }
    }

    private void mend(Work work, long suspected) {
        try {
            mendOne(work, suspected);
        } catch (IOException e) {
            work.unclear = name(work.ref) + ": " + e.getMessage();
        }
    }

    private void mendOne(Work work, long suspected) throws IOException {
        BlockRef ref = work.ref;
        int chunks = ref.getDataChunks() + ref.getParityChunks();
        Look[] looks = new Look[chunks];
        look(ref, looks, suspected, Long.bitCount(suspected));
        if (count(looks, Look.State.MISSING) + count(looks, Look.State.DAMAGED) > 0) {
            look(ref, looks, ~suspected, ref.getDataChunks() - usable(looks));
        }
        List<Integer> bad = new ArrayList<>();
        StringBuilder problems = new StringBuilder();
        for (int chunk = 0; chunk < chunks; chunk++) {
            Look look = looks[chunk];
            if (look != null && look.state() != Look.State.WHOLE) {
                problems.append(problems.isEmpty() ? "" : "; ").append(look.problem());
                if (look.state() != Look.State.UNKNOWN) {
                    bad.add(chunk);
                }
            }
        }
        work.bad = bad.size();
        boolean unknown = count(looks, Look.State.UNKNOWN) > 0;
        boolean enough = usable(looks) >= ref.getDataChunks();
        work.unclear = unknown ? name(ref) + ": " + problems : "";
        if (!bad.isEmpty() && !enough && !unknown) {
            work.lost =
                    "%s is lost, only %d of its %d objects are whole and %d are needed: %s"
                            .formatted(
                                    name(ref),
                                    usable(looks),
                                    chunks,
                                    ref.getDataChunks(),
                                    problems);
        } else if (!bad.isEmpty() && enough) {
            write(work, payloads(ref, looks, bad), bad);
        }
    }

    /** Those that can be decoded from. */
    private static int usable(Look[] looks) {
        int usable = 0;
        for (Look look : looks) {
            usable += look != null && look.payload() != null ? 1 : 0;
        }
        return usable;
    }

    private static int count(Look[] looks, Look.State state) {
        int count = 0;
        for (Look look : looks) {
            count += look != null && look.state() == state ? 1 : 0;
        }
        return count;
    }

    /** Looks at chunks, several at once, until so many are usable or no others are left. */
    private void look(BlockRef ref, Look[] looks, long which, int wanted) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_NS;
        int next = 0;
        int found = 0;
        try (Transfers<Look> transfers = new Transfers<>(threads)) {
            while (found < wanted) {
                for (; next < looks.length && found + transfers.underWay() < wanted; next++) {
                    int chunk = next;
                    if ((which >> chunk & 1) == 1 && looks[chunk] == null) {
                        Bucket bucket = buckets.ofOrNull(ref, chunk);
                        if (bucket == null) {
                            looks[chunk] = buckets.look(ref, chunk);
                        } else {
                            transfers.start(chunk, bucket, () -> buckets.look(ref, chunk));
                        }
                    }
                }
                if (transfers.underWay() == 0) {
                    return;
                }
                var outcome = transfers.next(deadline);
                if (outcome == null) {
                    throw new IOException("the buckets took longer than a minute");
                }
                Look look = outcome.value();
                if (look == null) {
                    BlockStoreException failure = outcome.failure();
                    look =
                            new Look(
                                    Look.State.UNKNOWN,
                                    null,
                                    failure == null ? "" : String.valueOf(failure.getMessage()));
                }
                looks[outcome.tag()] = look;
                found += look.payload() == null ? 0 : 1;
            }
        }
    }

    /** What the bad objects are to hold. */
    private static byte[][] payloads(BlockRef ref, Look[] looks, List<Integer> bad) {
        byte[][] payloads = new byte[bad.size()][];
        List<Integer> toDecode = new ArrayList<>();
        for (int i = 0; i < payloads.length; i++) {
            byte[] own = looks[bad.get(i)].payload();
            if (own == null) {
                toDecode.add(i);
            } else {
                payloads[i] = own; // only its header is damaged
            }
        }
        if (toDecode.isEmpty()) {
            return payloads;
        }
        ReedSolomon code = ReedSolomon.of(ref.getDataChunks(), ref.getParityChunks());
        byte[] @Nullable [] usable = new byte[looks.length][];
        for (int chunk = 0; chunk < looks.length; chunk++) {
            usable[chunk] = looks[chunk] == null ? null : looks[chunk].payload();
        }
        int[] wanted = toDecode.stream().mapToInt(bad::get).toArray();
        byte[][] output = code.rebuild(usable, wanted, code.chunkBytes(ref.getLength()));
        for (int i = 0; i < wanted.length; i++) {
            payloads[toDecode.get(i)] = output[i];
        }
        return payloads;
    }

    private void write(Work work, byte[][] payloads, List<Integer> bad) throws IOException {
        beforeWrite.accept(work.ref);
        List<String> failures = new ArrayList<>();
        for (int i = 0; i < payloads.length; i++) {
            Piece piece = Piece.of(work.ref, bad.get(i));
            Bucket bucket = buckets.of(piece);
            byte[] object = ObjectFormat.encode(piece, payloads[i], 0);
            if (!pace.spend(object.length)) {
                throw new IOException("this server is stopping");
            }
            work.written.add(bad.get(i)); // also when it fails: it may be there all the same
            try {
                bucket.put(buckets.key(piece), object);
                work.made++;
            } catch (BlockStoreException e) {
                failures.add(buckets.key(piece) + ": " + e.getMessage());
            }
        }
        work.left = String.join("; ", failures);
    }

    private void count(Work work, PassTally tally) {
        tally.bad(work.bad);
        tally.made(work.made);
        if (!work.left.isEmpty()) {
            LOG.warn("objects are not made anew yet: {}", work.left);
            tally.left(work.bad - work.made, work.left);
        }
        if (!work.unclear.isEmpty()) {
            tally.unclear(work.unclear);
        }
        if (!work.lost.isEmpty()) {
            LOG.error("{}", work.lost);
            tally.lost(work.bad, work.lost);
        }
        if (work.made > 0) {
            LOG.info("{}: {} objects made anew", name(work.ref), work.made);
        }
    }

    /** Those of what was written that may stay. */
    private List<String> takeBack(Work work) {
        List<String> left = new ArrayList<>();
        for (int chunk : work.written) {
            Piece piece = Piece.of(work.ref, chunk);
            String key = buckets.key(piece);
            try {
                left.addAll(buckets.of(piece).delete(List.of(key)));
            } catch (BlockStoreException e) {
                left.add(key);
            }
        }
        return left;
    }

    private static String name(BlockRef ref) {
        return "block %016x%016x".formatted(ref.getIdHigh(), ref.getIdLow());
    }
}
