package org.globalfs.replica.service;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.ContentReply;
import org.globalfs.protocol.wire.ContentRequest;

/**
 * Compares the blocks that a partition's files have with what the datastore has, some at a time.
 *
 * <p>A count of chunks is not of one moment, so what it lacks is only suspected. A block is lost
 * when it cannot be read for want of chunks, all that may have some having answered, and the
 * partition says after that read that files have it: whoever deletes a block begins after the
 * partition has given it up. Thread-safe.
 */
final class LostBlocks {

    /** Blocks of an answer, at most. */
    private static final int BATCH = 10_000;

    /** Of those that are suspected, so many are read for one answer, 4 MiB each at most. */
    private static final int READ = 100;

    private static final long READ_NS = TimeUnit.SECONDS.toNanos(20);

    /** As many as buckets far away say in well under the time that who asked waits. */
    private static final int PART = 1_000;

    /** No part is begun after it. */
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(60);

    private static final int MOST_PROBLEMS = 20;

    private final Map<Integer, HostedPartition> partitions;
    private final Multicast multicast;
    private final Datastore datastore;

    LostBlocks(Map<Integer, HostedPartition> partitions, Multicast multicast, Datastore datastore) {
        this.partitions = partitions;
        this.multicast = multicast;
        this.datastore = datastore;
    }

    ContentReply content(ContentRequest request) throws IOException {
        int number = request.getPartition();
        HostedPartition partition = partitions.get(number);
        if (partition == null || !multicast.isCoordinator(number)) {
            int coordinator = partition == null ? Multicast.NONE : multicast.coordinator(number);
            return new ContentReply(false, coordinator);
        }
        ContentReply reply = new ContentReply(true, multicast.coordinator(number));
        if (request.isSetOf()) {
            return reply.setFiles(partition.use(state -> state.filesWith(request.getOf())));
        }
        BlockRef after = request.getAfter();
        int limit = request.isSetLimit() ? Math.clamp(request.getLimit(), 1, BATCH) : BATCH;
        List<BlockRef> blocks = partition.use(state -> state.ownBlocks(after, limit));
        int looked = look(partition, blocks, reply);
        if (looked < blocks.size() || looked == limit) {
            reply.setLast(blocks.get(looked - 1));
        }
        return reply;
    }

    /** Returns how many of the blocks it came to. */
    private int look(HostedPartition partition, List<BlockRef> blocks, ContentReply reply)
            throws IOException {
        Look look = new Look();
        long untilNs = System.nanoTime() + LOOK_NS;
        int looked = 0;
        do {
            List<BlockRef> part = blocks.subList(looked, Math.min(blocks.size(), looked + PART));
            int came = look.at(part, datastore.count(partition.partition(), part));
            looked += came;
            if (came < part.size()) {
                break;
            }
        } while (looked < blocks.size() && System.nanoTime() - untilNs < 0);
        Set<BlockRef> inUse = new DecidedBlocks(partition, multicast).inUse(look.gone);
        look.gone.retainAll(inUse);
        reply.setBlocks(looked)
                .setReduced(look.reduced)
                .setUnclear(look.unclear)
                .setLost(look.gone)
                .setProblems(look.problems.stream().limit(MOST_PROBLEMS).toList());
        return looked;
    }

    /** What comes of the blocks of one answer. */
    private final class Look {
        final Set<String> problems = new TreeSet<>();
        final List<BlockRef> gone = new ArrayList<>();
        long reduced;
        long unclear;
        private int read;

        /** Returns how many of these it came to before it had read long enough, or enough. */
        int at(List<BlockRef> blocks, BlockStore.Census census) {
            long notWell = reduced + unclear;
            long untilNs = System.nanoTime() + READ_NS;
            int looked = 0;
            while (looked < blocks.size() && read < READ && System.nanoTime() - untilNs < 0) {
                BlockRef block = blocks.get(looked);
                int chunks = census.chunks()[looked];
                looked++;
                if (chunks >= block.getDataChunks()) {
                    reduced += chunks < block.getDataChunks() + block.getParityChunks() ? 1 : 0;
                } else if (!census.silent().isEmpty()) {
                    unclear++; // what is silent may have the rest: not worth to wait for
                } else {
                    read(block);
                }
            }
            if (reduced + unclear > notWell) {
                problems.addAll(census.silent());
            }
            return looked;
        }

        private void read(BlockRef block) {
            read++;
            try {
                if (datastore.isReadable(block)) {
                    reduced++;
                } else {
                    gone.add(block);
                }
            } catch (IOException e) {
                unclear++;
                problems.add(String.valueOf(e.getMessage()));
            }
        }
    }
}
