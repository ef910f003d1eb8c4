package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.datastore.node.Makers;
import org.globalfs.datastore.node.Pace;
import org.globalfs.datastore.s3.BlockMender.Suspect;
import org.globalfs.datastore.s3.Buckets.Look;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Reads objects whole, one block behind the other, and has those made anew that are damaged or
 * missing. Of one thread, but that several are read at once.
 */
final class ReadPass implements AutoCloseable {
    private static final int BATCH = 16;

    private final Buckets buckets;
    private final BlockWalk walk;
    private final BlockMender mender;
    private final PassTally tally;
    private final AtomicLong readBytes = new AtomicLong();
    private final Makers readers = new Makers();

    ReadPass(Buckets buckets, BlockWalk walk, BlockMender mender, PassTally tally) {
        this.buckets = buckets;
        this.walk = walk;
        this.mender = mender;
        this.tally = tally;
    }

    /**
     * Reads some more.
     *
     * @return false: that was all, or the server stops
     */
    boolean readOn(Pace pace) {
        Map<BlockRef, Long> suspects = new HashMap<>();
        List<Runnable> toRead = new ArrayList<>();
        AtomicBoolean stopped = new AtomicBoolean();
        BlockWalk.@Nullable Found found = null;
        while (toRead.size() < BATCH && (found = walk.next()) != null) {
            BlockRef ref = found.ref();
            if (found.missing() != 0) {
                suspect(suspects, ref, found.missing());
            }
            for (int chunk = 0; chunk < found.chunks(); chunk++) {
                if ((found.present() >> chunk & 1) == 1) {
                    int one = chunk;
                    toRead.add(() -> {
                        if (!read(ref, one, pace, suspects)) {
                            stopped.set(true);
                        }
                    });
                }
            }
        }
        readers.run(toRead);
        if (stopped.get() || Thread.currentThread().isInterrupted()) {
            return false;
        }
        mend(suspects);
        if (found == null) {
            walk.away()
                    .forEach((region, why) -> tally.unreadable("bucket of " + region + ": " + why));
        }
        return found != null;
    }

    private void mend(Map<BlockRef, Long> suspects) {
        if (suspects.isEmpty()) {
            return;
        }
        try {
            mender.mend(
                    suspects.entrySet().stream()
                            .map(each -> new Suspect(each.getKey(), each.getValue()))
                            .toList(),
                    tally);
        } catch (IOException e) {
            tally.unclear(suspects.size() + " blocks with damaged objects: " + e.getMessage());
        }
    }

    /** How much was read by now. */
    long readBytes() {
        return readBytes.get();
    }

    /** {@link BlockWalk#place} */
    String place() {
        return walk.place();
    }

    /** {@link BlockWalk#away} */
    Map<String, String> away() {
        return walk.away();
    }

    double part() {
        return walk.part();
    }

    private boolean read(BlockRef ref, int chunk, Pace pace, Map<BlockRef, Long> suspects) {
        int bytes = ObjectFormat.objectBytes(Piece.of(ref, chunk).payloadBytes());
        if (!pace.spend(bytes)) {
            return false;
        }
        Look look = buckets.look(ref, chunk);
        tally.did(bytes);
        readBytes.addAndGet(bytes);
        switch (look.state()) {
            case WHOLE -> {}
            case UNKNOWN -> tally.unreadable(look.problem());
            case MISSING, DAMAGED -> suspect(suspects, ref, 1L << chunk);
        }
        return true;
    }

    private static void suspect(Map<BlockRef, Long> suspects, BlockRef ref, long chunks) {
        synchronized (suspects) {
            suspects.merge(ref, chunks, (a, b) -> a | b);
        }
    }

    @Override
    public void close() {
        readers.close();
    }
}
