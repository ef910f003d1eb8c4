package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.s3.BlockMender.Suspect;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.protocol.Shutdown;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One comparison of what a partition's buckets list with what they should: what is not listed is
 * looked for, and made anew. It reads nothing of blocks of which all is there. Of one thread.
 */
final class CheckPass {
    private static final Logger LOG = LoggerFactory.getLogger(CheckPass.class);
    private static final int BATCH = 32;

    private final String name;
    private final BlockWalk walk;
    private final BlockOwner owner;
    private final BlockMender mender;
    private final PassTally tally;
    private final Shutdown shutdown;
    private final List<Suspect> suspects = new ArrayList<>();

    /**
     * @param name of those whose blocks these are, for the log
     */
    CheckPass(
            String name,
            Buckets buckets,
            int region,
            BlockOwner owner,
            BlockMender mender,
            PassTally tally,
            Shutdown shutdown)
            throws BlockStoreException {
        this.name = name;
        this.walk = new BlockWalk(buckets, region, "", null);
        this.owner = owner;
        this.mender = mender;
        this.tally = tally;
        this.shutdown = shutdown;
    }

    /** False: something is left that may be possible later. */
    boolean run() {
        boolean through = false;
        try {
            through = walk();
        } catch (IOException e) {
            LOG.info("{}: the check of objects did not get through: {}", name, e.getMessage());
        } finally {
            tally.end(through ? PassState.ENDED : PassState.WAITING);
        }
        if (through) {
            report();
        }
        return through && tally.leftChunks() == 0 && tally.unclearBlocks() == 0;
    }

    private boolean walk() throws IOException {
        for (var found = walk.next(); found != null; found = walk.next()) {
            if (shutdown.begun() || !owner.leads()) {
                return false;
            }
            long missing = found.missing();
            if (missing != 0) {
                suspects.add(new Suspect(found.ref(), missing));
            }
            if (suspects.size() == BATCH) {
                mend();
            }
            tally.did(Long.bitCount(found.present() | missing));
            double part = walk.part();
            tally.expect(part > 0 ? (long) (walk.objects() / part) : 0);
        }
        mend();
        walk.away().forEach((region, why) -> tally.unclear("bucket of " + region + ": " + why));
        return !shutdown.begun();
    }

    private void mend() throws IOException {
        if (!suspects.isEmpty()) {
            mender.mend(suspects, tally);
            suspects.clear();
        }
    }

    /** What the buckets hold, as far as they said. */
    List<BlockWalk.Count> counts() {
        return walk.counts();
    }

    /** By region, the buckets that did not answer, and why. */
    Map<String, String> away() {
        return walk.away();
    }

    private void report() {
        if (tally.madeChunks() + tally.leftChunks() > 0) {
            LOG.info(
                    "{}: {} objects made anew, {} left",
                    name,
                    tally.madeChunks(),
                    tally.leftChunks());
        }
        if (tally.lostBlocks() > 0) {
            LOG.error(
                    "{}: {} blocks that files have are lost, see above", name, tally.lostBlocks());
        }
        walk.away()
                .forEach((region, why) ->
                        LOG.warn(
                                "{}: what the bucket of {} lacks is not made anew before it answers: {}",
                                name,
                                region,
                                why));
    }
}
